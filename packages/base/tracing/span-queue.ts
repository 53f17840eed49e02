import { asError } from '../as-error.ts'
import { linkedSignal, withTimeout, type LinkedSignal } from '../abort.ts'
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { SpanData } from './span.ts'
import { baseBounds } from '../limits-table.ts'

/** Exports spans. Rejects if they have not arrived. */
export interface SpanExporter extends Disposable {
  export(spans: readonly SpanData[], signal: AbortSignal): Promise<void>
}

const spanQueueDefaults = baseBounds.spanQueue

export interface SpanQueueDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

/**
 * Queues spans for their collector and exports them in batches. Callers never wait: spans that find
 * the queue full are dropped and counted, and so is a batch that does not arrive.
 */
export class SpanQueue implements AsyncDisposable {
  readonly #exporter: SpanExporter
  readonly #limits: typeof spanQueueDefaults
  readonly #deps: SpanQueueDeps
  readonly #stop = new AbortController()
  /** Aborts after the stop, when the remaining spans are exported or their time is over. */
  readonly #life = new AbortController()
  readonly #counts
  readonly #running: Promise<void>
  #waiting: SpanData[] = []
  #wake = Promise.withResolvers<void>()
  #pause: LinkedSignal | undefined
  #isFailing = false

  constructor(
    exporter: SpanExporter,
    deps: SpanQueueDeps,
    limits: Partial<typeof spanQueueDefaults> = {},
  ) {
    this.#exporter = exporter
    this.#deps = deps
    this.#limits = { ...spanQueueDefaults, ...limits }
    this.#counts = deps.metrics.counter(
      'skerry_trace_spans_total',
      'Spans that have ended: exported, or dropped because the queue was full or the collector did not take them.',
      ['result'],
    )
    this.#running = this.#run()
  }

  push(span: SpanData): void {
    if (this.#waiting.length >= this.#limits.spansMax) {
      this.#counts.inc({ result: 'dropped' })
      return
    }
    this.#waiting.push(span)
    if (this.#waiting.length === 1) this.#wake.resolve()
    if (this.#waiting.length >= this.#limits.batchMax) this.#pause?.abort(new Error('It is full'))
  }

  /** Exports waiting spans within `flushMs`, then stops. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('The role ends'))
    this.#wake.resolve()
    const { clock } = this.#deps
    const late = new Error('Cannot export spans: the role has ended')
    using _timer = clock.setTimer(this.#limits.flushMs, () => this.#life.abort(late))
    await this.#running
    this.#counts.inc({ result: 'dropped' }, this.#waiting.length)
    this.#waiting = []
    this.#exporter[Symbol.dispose]()
  }

  async #run(): Promise<void> {
    const stop = this.#stop.signal
    const life = this.#life.signal
    const { batchMax, scheduleMs } = this.#limits
    while (!stop.aborted) {
      await this.#wake.promise
      this.#wake = Promise.withResolvers<void>()
      if (this.#waiting.length < batchMax && !stop.aborted) {
        // Waits for more spans. Ends at once if the role ends or a batch is full.
        using pause = linkedSignal(stop)
        this.#pause = pause
        await this.#deps.clock.sleep(scheduleMs, pause.signal).catch(() => undefined)
        this.#pause = undefined
      }
      while (this.#waiting.length > 0 && !life.aborted) await this.#exportNext(life)
    }
  }

  /** Never rejects: a batch that does not arrive is lost. */
  async #exportNext(signal: AbortSignal): Promise<void> {
    const { batchMax, exportMs: ms } = this.#limits
    const batch = this.#waiting.splice(0, batchMax)
    const message = `Cannot export spans: not accepted within ${ms} ms`
    try {
      await withTimeout({ ms, message, clock: this.#deps.clock }, signal, (scope) =>
        this.#exporter.export(batch, scope),
      )
      this.#counts.inc({ result: 'exported' }, batch.length)
      this.#isFailing = false
    } catch (error) {
      this.#counts.inc({ result: 'dropped' }, batch.length)
      const cause = asError(error)
      if (!this.#isFailing) this.#deps.log.info('Spans are not accepted', { error: cause })
      this.#isFailing = true
    }
  }
}
