import { StatusError } from '@skerry/api'
import { noBody } from '../contract/exchange.ts'
import type { BodyShare } from '../contract/body-share.ts'

/**
 * Resolves with the whole body when it may be processed. Rejects with RequestEntityTooLarge as soon
 * as it exceeds `bytesMax`, and with the errors of `held`.
 */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
  held?: BodyShare,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body) {
    length += part.length
    if (length > bytesMax) {
      throw new StatusError(
        'RequestEntityTooLarge',
        `Request entity too large: limit is ${bytesMax}`,
      )
    }
    parts.push(part)
    const more = held?.add(part.length)
    if (more !== undefined) await more
  }
  await held?.untilItsTurn()
  await held?.pause()
  if (parts.length === 0) return noBody
  return parts.length === 1 ? (parts[0] ?? noBody) : Buffer.concat(parts, length)
}
