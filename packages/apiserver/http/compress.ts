import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import { isWhole, type ApiAnswer } from '../contract/exchange.ts'
import { apiServerBounds } from '../limits-table.ts'

const gzipWhole = promisify(gzip)

/** Prefers speed to size: the link that profits most is the one that is slow anyway. */
const options = Object.freeze({ level: constants.Z_BEST_SPEED })

const { streamsPerUserMax, streamsMax } = apiServerBounds.compress

/** The number of lists being compressed. Above the limits a list is sent uncompressed. */
export class GzipStreams {
  readonly #ofUsers = new Map<string, number>()
  #count = 0

  get count(): number {
    return this.#count
  }

  hasRoom(user: string): boolean {
    return this.#count < streamsMax && (this.#ofUsers.get(user) ?? 0) < streamsPerUserMax
  }

  /**
   * Nothing is allocated before the body is read: an answer to HEAD, or to a client that is gone,
   * never is.
   */
  async *compressed(pieces: Iterable<Uint8Array>, user: string): AsyncGenerator<Uint8Array> {
    this.#add(user, 1)
    try {
      yield* Readable.from(pieces).pipe(createGzip(options))
    } finally {
      this.#add(user, -1)
    }
  }

  #add(user: string, change: number): void {
    this.#count += change
    const count = (this.#ofUsers.get(user) ?? 0) + change
    if (count > 0) this.#ofUsers.set(user, count)
    else this.#ofUsers.delete(user)
  }
}

/** Compresses a large answer if the client accepts that. Streams without an end stay as they are. */
export async function compressed(
  answer: ApiAnswer,
  acceptEncoding: string | undefined,
  { bytesMin, streams }: { bytesMin: number; streams: GzipStreams },
): Promise<ApiAnswer> {
  if (acceptEncoding === undefined || !/\bgzip\b/.test(acceptEncoding)) return answer
  const { body } = answer
  if (Symbol.asyncIterator in body || 'content-encoding' in answer.headers) return answer
  const headers = { ...answer.headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' }
  if (isWhole(body)) {
    if (body.length < bytesMin) return answer
    return { ...answer, headers, body: await gzipWhole(body, options) }
  }
  const user = answer.reader?.user ?? ''
  if (!streams.hasRoom(user)) return answer
  const pieces = body[Symbol.iterator]()
  const first = pieces.next()
  if (first.done) return { ...answer, body: [] }
  const all = continued(first.value, pieces)
  // Pieces are larger than the limit, so a small first one is the only one.
  if (first.value.length < bytesMin) return { ...answer, body: all }
  return { ...answer, headers, body: streams.compressed(all, user) }
}

function* continued(first: Uint8Array, rest: Iterator<Uint8Array>): Generator<Uint8Array> {
  yield first
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value
}
