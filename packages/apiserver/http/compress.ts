import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import { isWhole, type ApiAnswer } from './exchange.ts'

const gzipWhole = promisify(gzip)

/** Fast rather than small: the link that profits most is the one that is slow anyway. */
const options = Object.freeze({ level: constants.Z_BEST_SPEED })

/** Compresses a large answer when the client accepts that; streams without an end stay as they are. */
export async function compressed(
  answer: ApiAnswer,
  acceptEncoding: string | undefined,
  bytesMin: number,
): Promise<ApiAnswer> {
  if (acceptEncoding === undefined || !/\bgzip\b/.test(acceptEncoding)) return answer
  const { body } = answer
  if (Symbol.asyncIterator in body || 'content-encoding' in answer.headers) return answer
  const headers = { ...answer.headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' }
  if (isWhole(body)) {
    if (body.length < bytesMin) return answer
    return { ...answer, headers, body: await gzipWhole(body, options) }
  }
  const pieces = body[Symbol.iterator]()
  const first = pieces.next()
  if (first.done) return { ...answer, body: [] }
  const all = continued(first.value, pieces)
  // Pieces are larger than the bound, so that a small first one is the only one.
  if (first.value.length < bytesMin) return { ...answer, body: all }
  return { ...answer, headers, body: Readable.from(all).pipe(createGzip(options)) }
}

function* continued(first: Uint8Array, rest: Iterator<Uint8Array>): Generator<Uint8Array> {
  yield first
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value
}
