import { StatusError } from '@skerry/api'
import { abortReason } from '@skerry/base'
import type { TunnelResponse } from '@skerry/tunnel'
import { parsedJson, viewLimits } from './edge-calls.ts'

export interface AnswerRoomLimits {
  /** Of one answer. */
  readonly answerBytesMax: number
  /** An answer above it is a long one. */
  readonly smallAnswerBytes: number
  readonly longAnswersMax: number
}

/**
 * Where answers are whole while they are rewritten. Small ones never wait; of long ones a few are there at
 * a time, and the edge keeps the rest of the others until their turn.
 */
export class AnswerRoom {
  readonly #limits: AnswerRoomLimits
  readonly #waiting = new Set<() => void>()
  #long = 0

  constructor(limits: Partial<AnswerRoomLimits> = {}) {
    this.#limits = { ...viewLimits, ...limits }
  }

  /**
   * What `use` makes of the answer's JSON; of undefined where it is none. Throws StatusError where it is
   * too long, the signal's reason when it aborts while others have their turn.
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

  /** Whoever waits longest takes the place. */
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
