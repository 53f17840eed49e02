import { StatusError } from '@skerry/api'
import { noBody } from './exchange.ts'

/** The whole body; throws RequestEntityTooLarge as soon as it passes `bytesMax`. */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
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
  }
  if (parts.length === 0) return noBody
  return parts.length === 1 ? (parts[0] ?? noBody) : Buffer.concat(parts, length)
}
