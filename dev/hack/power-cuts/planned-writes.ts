import { createHash } from 'node:crypto'
import { seededRandom } from '@skerry/base'
import type { KeyWrite } from './acknowledged-writes.ts'

export interface WriterPlan {
  readonly seed: number
  /** Counts boots, so that each has other contents. */
  readonly boot: number
  readonly writer: number
}

/** The number of clients that write at the same time; each has keys of its own. */
export const writersCount = 6
const keysPerWriter = 30
/** Most values are as small as objects of Kubernetes; a few make the write-ahead log turn over soon. */
const smallBytesMax = 3_000
const largeBytesMax = 60_000

/** Yields the writes of one client without end: puts, deletes, and pairs of puts that belong together. */
export function* plannedWrites({ seed, boot, writer }: WriterPlan): Generator<readonly KeyWrite[]> {
  const random = seededRandom(seed * 1_000 + boot * 10 + writer)
  const key = (): string => `/cut/${writer}/${Math.floor(random.next() * keysPerWriter)}`
  for (let count = 0; ; count += 1) {
    const bytesMax = random.next() < 0.03 ? largeBytesMax : smallBytesMax
    const length = 1 + Math.floor(random.next() * bytesMax)
    const content = `${boot} ${writer} ${count} `.padEnd(length, 'skerry')
    const kind = random.next()
    const [one, other] = [key(), key()]
    if (kind < 0.2) yield [{ key: one }]
    else if (kind < 0.4 && one !== other) {
      yield [
        { key: one, content },
        { key: other, content },
      ]
    } else yield [{ key: one, content }]
  }
}

/** Returns a short text that stands for a content. */
export function digestOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('base64').slice(0, 16)
}
