import { firstWindowBytes, windowBytesMax } from '../frames/frame-types.ts'
import { ConnectionError } from '../frames/http2-error.ts'

/** RFC 9113, section 6.5.2. */
export const settingIds = Object.freeze({
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
})

export const settingBytes = 6
const [frameSizeMin, frameSizeMax] = [2 ** 14, 2 ** 24 - 1]

/** The settings of a peer that matter to a server. */
export interface PeerSettings {
  headerTableBytes: number
  initialWindowBytes: number
}

export function firstPeerSettings(): PeerSettings {
  return { headerTableBytes: 4_096, initialWindowBytes: firstWindowBytes }
}

/** Reads the payload of SETTINGS into `settings`; the last value of each counts. Throws ConnectionError. */
export function readSettings(
  settings: PeerSettings,
  { bytes, from, end }: { bytes: Buffer; from: number; end: number },
): void {
  if ((end - from) % settingBytes !== 0) {
    throw new ConnectionError('frameSizeError', 'SETTINGS are cut off')
  }
  for (let at = from; at < end; at += settingBytes) {
    const id = bytes.readUInt16BE(at)
    const value = bytes.readUInt32BE(at + 2)
    if (id === settingIds.headerTableSize) settings.headerTableBytes = value
    else if (id === settingIds.enablePush && value > 1) {
      throw new ConnectionError('protocolError', 'ENABLE_PUSH is neither 0 nor 1')
    } else if (id === settingIds.initialWindowSize) {
      if (value > windowBytesMax) {
        throw new ConnectionError('flowControlError', 'INITIAL_WINDOW_SIZE is too large')
      }
      settings.initialWindowBytes = value
    } else if (id === settingIds.maxFrameSize && (value < frameSizeMin || value > frameSizeMax)) {
      throw new ConnectionError('protocolError', 'MAX_FRAME_SIZE is out of bounds')
    }
  }
}
