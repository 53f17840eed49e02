import { StatusError } from '@skerry/api'
import { abortReason } from '@skerry/base'
import type { TunnelResponse } from '@skerry/tunnel'
import { parsedJson } from './edge-calls.ts'
import { viewLimits } from '../limits-table.ts'

export interface AnswerRoomLimits {
  /** The limit of one answer. */
  readonly answerBytesMax: number
  /** An answer above it is a long one. */
  readonly smallAnswerBytes: number
  readonly longAnswersMax: number
}

/**
 * Holds whole answers while they are rewritten. Small answers never wait. Only a few long ones are held at a
 * time; the others wait with the rest of their bytes still at the edge.
 */
export class AnswerRoom {
  readonly #limits: AnswerRoomLimits
  readonly #waiting = new Set<() => void>()
  #long = 0

  constructor(limits: Partial<AnswerRoomLimits> = {}) {
    this.#limits = { ...viewLimits, ...limits }
  }

  /**
   * Resolves with what `use` makes of the answer's JSON, or of undefined if it is not JSON. Rejects with
   * StatusError if the answer is too long, and with the signal's reason if it aborts while the answer waits
   * its turn.
   */
  async read<T>(
    answer: Pick<TunnelResponse, 'body'>,
    use: (content: unknown) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { answerBytesMax, smallAnswerBytes } = this.#limits
    const chunks: Uint8Array[] = []
    let bytes = 0
    let isLong = false
    try {
      for await (const chunk of answer.body) {
        bytes += chunk.length
        if (bytes > answerBytesMax) throw tooLong(answerBytesMax)
        if (!isLong && bytes > smallAnswerBytes) {
          await this.#enter(signal)
          isLong = true
        }
        chunks.push(chunk)
      }
      return await use(parsedJson(Buffer.concat(chunks)))
    } finally {
      if (isLong) this.#leave()
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    if (this.#long < this.#limits.longAnswersMax) {
      this.#long += 1
      return
    }
    const turn = Promise.withResolvers<void>()
    const onAbort = (): void => {
      this.#waiting.delete(turn.resolve)
      turn.reject(abortReason(signal))
    }
    this.#waiting.add(turn.resolve)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      if (signal.aborted) onAbort()
      await turn.promise
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Passes the place to the answer that has waited longest. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#long -= 1
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}

function tooLong(bytesMax: number): StatusError {
  const text = `Cannot show answer in a virtual cluster: it is above ${bytesMax} bytes; ask for it in pages (limit)`
  return new StatusError('RequestEntityTooLarge', text)
}
