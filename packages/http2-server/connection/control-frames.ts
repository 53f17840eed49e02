import { firstWindowBytes, frameFlags, frameHeadBytes, frameTypes } from '../frames/frame-types.ts'
import { errorCodes, type ErrorCode } from '../frames/http2-error.ts'
import type { Http2Limits } from '../limits-table.ts'
import { settingBytes, settingIds } from './peer-settings.ts'

/** The server's settings, and its window for the connection, which SETTINGS cannot change (RFC 9113, section 6.9.2). */
export function greetingOf({ streamsMax, headerBytesMax, windowBytes }: Http2Limits): Buffer {
  const settings: readonly (readonly [number, number])[] = [
    [settingIds.maxConcurrentStreams, streamsMax],
    [settingIds.maxHeaderListSize, headerBytesMax],
  ]
  const payload = Buffer.alloc(settings.length * settingBytes)
  for (const [at, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, at * settingBytes)
    payload.writeUInt32BE(value, at * settingBytes + 2)
  }
  const frames = [controlFrame(frameTypes.settings, 0, 0, payload)]
  if (windowBytes > firstWindowBytes) frames.push(windowUpdate(0, windowBytes - firstWindowBytes))
  return Buffer.concat(frames)
}

/** Acknowledges SETTINGS or PING. */
export function acknowledgement(type: number, payload: Uint8Array): Buffer {
  return controlFrame(type, frameFlags.ack, 0, payload)
}

export function windowUpdate(streamId: number, bytes: number): Buffer {
  return controlFrame(frameTypes.windowUpdate, 0, streamId, numberBytes(bytes))
}

export function rstStream(streamId: number, code: ErrorCode): Buffer {
  return controlFrame(frameTypes.rstStream, 0, streamId, numberBytes(errorCodes[code]))
}

export function goaway(lastStreamId: number, code: ErrorCode, why: string): Buffer {
  const payload = [numberBytes(lastStreamId), numberBytes(errorCodes[code]), Buffer.from(why)]
  return controlFrame(frameTypes.goaway, 0, 0, Buffer.concat(payload))
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function controlFrame(type: number, flags: number, streamId: number, payload: Uint8Array): Buffer {
  const frame = Buffer.alloc(frameHeadBytes + payload.length)
  frame.writeUIntBE(payload.length, 0, 3)
  frame[3] = type
  frame[4] = flags
  frame.writeUInt32BE(streamId, 5)
  frame.set(payload, frameHeadBytes)
  return frame
}
