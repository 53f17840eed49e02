import { linkedSignal, type Clock } from '@skerry/base'
import type { JsonObject } from '@skerry/api'
import { consoleBounds } from '../limits-table.ts'

/** Reports that a tab takes nothing any more. */
export class TabSlowError extends Error {
  override name = 'TabSlowError'
}

/** The way of one watch to its tab. */
export interface WatchOut {
  /** Sends a small frame at once. */
  note(frame: JsonObject): void
  /** Sends a frame with objects as soon as the tab takes one. Throws TabSlowError if it does not in time. */
  data(frame: JsonObject, signal: AbortSignal): Promise<void>
  /** Resolves when the tab takes a frame with objects. */
  ready(signal: AbortSignal): Promise<void>
}

/** The connection of one tab. */
export interface TabSocket {
  send(text: string, onSent: () => void): void
}

const { credits, creditsMax, waitingBytesMax, slowMs } = consoleBounds.watchesStream

/** Counts the bytes on their way to a tab, for all of its watches together. */
export class TabOutput {
  readonly #socket: TabSocket
  readonly #clock: Pick<Clock, 'setTimer'>
  readonly #waiting = new Set<() => void>()
  #waitingBytes = 0

  constructor(socket: TabSocket, clock: Pick<Clock, 'setTimer'>) {
    this.#socket = socket
    this.#clock = clock
  }

  note(frame: JsonObject): void {
    const text = JSON.stringify(frame)
    this.#waitingBytes += text.length
    this.#socket.send(text, () => {
      this.#waitingBytes -= text.length
      this.#wake()
    })
  }

  /** Opens the way of one watch. It ends with the watch. */
  open(): WatchOut & { more(count: number): void } {
    let left: number = credits
    const mayGo = (): boolean => left > 0 && this.#waitingBytes < waitingBytesMax
    const ready = async (signal: AbortSignal): Promise<void> => {
      while (!mayGo()) await this.#change(signal)
    }
    return {
      note: (frame) => this.note(frame),
      ready,
      data: async (frame, signal) => {
        if (!mayGo()) {
          using scope = linkedSignal(signal)
          const late = new TabSlowError('the tab was too slow')
          using _timer = this.#clock.setTimer(slowMs, () => scope.abort(late))
          await ready(scope.signal)
        }
        left -= 1
        this.note(frame)
      },
      more: (count) => {
        left = Math.min(creditsMax, left + count)
        this.#wake()
      },
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        this.#waiting.delete(done)
        reject(signal.reason)
      }
      const done = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.add(done)
    })
  }
}
