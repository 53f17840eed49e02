import type { TunnelResponse } from '@skerry/tunnel'
import type { Framing } from './frame-splitter.ts'
import { protobufErrorFrame } from './protobuf-event.ts'
import { framingOfType } from './watch-framing.ts'
import { gatewayBounds } from '../limits-table.ts'

const { statusBytesMax } = gatewayBounds.expiredEvent

/**
 * Turns the refusal to continue from a version into the watch's last event, as a server sends it that has
 * already begun to answer. Resolves undefined if it is in another encoding than the watch, or is not a
 * Status.
 */
export async function expiredEvent(
  { headers, body }: TunnelResponse,
  framing: Framing,
): Promise<Uint8Array | undefined> {
  if (framingOfType(headers) !== framing) return undefined
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > statusBytesMax) return undefined
    pieces.push(piece)
  }
  const status = Buffer.concat(pieces)
  return framing === 'lengths' ? protobufErrorFrame(status) : jsonErrorLine(status)
}

function jsonErrorLine(status: Buffer): Uint8Array | undefined {
  try {
    const object: unknown = JSON.parse(status.toString('utf8'))
    return Buffer.from(`${JSON.stringify({ type: 'ERROR', object })}\n`)
  } catch {
    // The cluster itself reports the error to a client that asks again.
    return undefined
  }
}
