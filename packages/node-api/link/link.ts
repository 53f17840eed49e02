import { asError, createWakeFlag, withTimeout, type Clock, type Logger } from '@skerry/base'
import { readBody, type Transport } from '@skerry/client'
import { nodeApiBounds } from '../limits-table.ts'

const { probeMs, awayProbeMs, probeTimeoutMs } = nodeApiBounds.link

/** Knows whether the control plane answers, and since when it does not. */
export class Link {
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #log: Logger
  readonly #wake = createWakeFlag()
  readonly #listeners = new Set<(isUp: boolean) => void>()
  #isUp = false
  #isSuspected = true
  #lastAnswer: { monotonicMs: number; atMs: number } | undefined

  constructor(transport: Transport, { clock, log }: { clock: Clock; log: Logger }) {
    this.#transport = transport
    this.#clock = clock
    this.#log = log
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** Returns for how long nothing has come from the control plane; undefined if nothing ever came. */
  awayMs(): number | undefined {
    if (!this.#lastAnswer) return undefined
    return this.#clock.monotonicMs() - this.#lastAnswer.monotonicMs
  }

  /** Call this when a request got no answer: the control plane is probed at once. */
  suspect(): void {
    this.#isSuspected = true
    this.#wake.raise()
  }

  /** Call this when the control plane has answered anything. */
  answered(): void {
    this.#lastAnswer = { monotonicMs: this.#clock.monotonicMs(), atMs: this.#clock.now() }
    this.#set(true)
  }

  /** Called at each change, and at once with the current state. */
  onChange(listener: (isUp: boolean) => void): Disposable {
    this.#listeners.add(listener)
    listener(this.#isUp)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  async run(signal: AbortSignal): Promise<never> {
    for (;;) {
      const isDue = !this.#isUp || this.#isSuspected || (this.awayMs() ?? Infinity) >= probeMs
      this.#isSuspected = false
      if (isDue) await this.#probe(signal)
      using _timer = this.#clock.setTimer(this.#isUp ? probeMs : awayProbeMs, () =>
        this.#wake.raise(),
      )
      await this.#wake.wait(signal)
    }
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const request = { method: 'GET', path: '/readyz', headers: {} } as const
    const message = `no answer in ${probeTimeoutMs} ms`
    try {
      await withTimeout(
        { ms: probeTimeoutMs, message, clock: this.#clock },
        signal,
        async (scope) => {
          const { status, body } = await this.#transport.send(request, scope)
          await readBody(body)
          // A server that does not let nodes ask is there; one that is not ready cannot answer others either.
          if (status >= 500) throw new Error(`/readyz has status ${status}`)
        },
      )
      this.answered()
    } catch (error) {
      if (signal.aborted) throw error
      if (this.#isUp) this.#log.info('Control plane is away', { error: asError(error) })
      this.#set(false)
    }
  }

  #set(isUp: boolean): void {
    if (this.#isUp === isUp) return
    this.#isUp = isUp
    if (isUp) this.#log.info('Control plane answers')
    for (const listener of this.#listeners) listener(isUp)
  }
}
