import { isIPv6 } from 'node:net'
import { StatusError } from '@skerry/api'
import { addressBytes, type Clock, type Timer } from '@skerry/base'
import { programBounds } from './limits-table.ts'

const { atOnceMax, ofSourceMax, slowMs, awayMs, retryAfterSeconds } = programBounds.downloads

/** One running download. */
export interface Download extends Disposable {
  /** Called when the reader has taken a piece and asks for the next one. */
  onPiece(): void
}

interface Running {
  readonly source: string
  readonly end: () => void
  /** When its reader took the last piece. */
  movedMs: number
  away: Timer | undefined
}

/**
 * Bounds the downloads of callers who are not known. Above the bounds a download whose reader is slow ends, for it may
 * continue later where it ended; without a slow one, the new download is refused for a moment.
 */
export class Downloads {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'setTimer'>
  /** In the order of their begin. */
  readonly #running = new Set<Running>()

  constructor(clock: Pick<Clock, 'monotonicMs' | 'setTimer'>) {
    this.#clock = clock
  }

  get count(): number {
    return this.#running.size
  }

  /** Begins a download for an address. `end` must cut it off. Throws TooManyRequests. */
  begin(address: string, end: () => void): Download {
    const source = sourceOf(address)
    const ofSource = [...this.#running].filter((each) => each.source === source)
    if (ofSource.length >= ofSourceMax) this.#makeRoom(ofSource)
    if (this.#running.size >= atOnceMax) this.#makeRoom([...this.#running])
    const running: Running = { source, end, movedMs: this.#clock.monotonicMs(), away: undefined }
    this.#running.add(running)
    this.#wait(running)
    return {
      onPiece: () => {
        if (!this.#running.has(running)) return
        running.movedMs = this.#clock.monotonicMs()
        this.#wait(running)
      },
      [Symbol.dispose]: () => this.#forget(running),
    }
  }

  /** Ends the one whose reader has taken nothing for the longest time. */
  #makeRoom(among: readonly Running[]): void {
    const slowest = among.reduce((slow, each) => (each.movedMs < slow.movedMs ? each : slow))
    if (this.#clock.monotonicMs() - slowest.movedMs < slowMs) throw tooMany()
    this.#cut(slowest)
  }

  #wait(running: Running): void {
    running.away?.[Symbol.dispose]()
    running.away = this.#clock.setTimer(awayMs, () => this.#cut(running), { isBackground: true })
  }

  #cut(running: Running): void {
    this.#forget(running)
    running.end()
  }

  #forget(running: Running): void {
    running.away?.[Symbol.dispose]()
    this.#running.delete(running)
  }
}

/** Everybody in an IPv6 network of 64 bits is one source: one machine may have all its addresses. */
function sourceOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  return isIPv6(plain) ? addressBytes(plain).toString('hex', 0, 8) : plain
}

function tooMany(): StatusError {
  const text = 'Cannot begin the download: too many run at the same time; try again in a moment'
  return new StatusError('TooManyRequests', text, { details: { retryAfterSeconds } })
}
