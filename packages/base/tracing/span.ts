import type { Clock } from '../clock.ts'
import type { Random } from '../random.ts'
import { traceDigits, type TraceContext } from './trace-context.ts'
import { baseBounds } from '../limits-table.ts'

export type SpanKind = 'internal' | 'server' | 'client'
export type SpanAttribute = string | number | boolean

/** One operation that has ended. */
export interface SpanData {
  readonly context: TraceContext
  readonly parentSpanId: string | undefined
  readonly links: readonly TraceContext[]
  readonly name: string
  readonly kind: SpanKind
  /** Milliseconds since the Unix epoch. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes: ReadonlyMap<string, SpanAttribute>
  /** The error message. Omitted if the operation did not fail. */
  readonly error?: string
}

export interface SpanOptions {
  readonly kind?: SpanKind
  /** The parent, whose sampling decision applies. If omitted, a new trace begins. */
  readonly parent?: TraceContext | undefined
  /** Related spans other than the parent. */
  readonly links?: readonly TraceContext[]
  /** The start by the wall clock. If omitted, now. */
  readonly startMs?: number
  readonly attributes?: Readonly<Record<string, SpanAttribute | undefined>>
}

/** One operation in progress. An unsampled one only has a context, which is passed on. */
export interface Span {
  readonly context: TraceContext
  readonly isRecording: boolean
  set(attributes: Readonly<Record<string, SpanAttribute | undefined>>): void
  fail(message: string): void
  child(name: string, options?: Omit<SpanOptions, 'parent'>): Span
  /** Ends the span; only the first call counts. `endMs` is by the wall clock. If omitted, now. */
  end(endMs?: number): void
}

export interface Tracer {
  start(name: string, options?: SpanOptions): Span
}

export interface TracerDeps {
  readonly clock: Clock
  readonly random: Random
  readonly onEnd: (span: SpanData) => void
}

const { textMax } = baseBounds.span

/** Creates a tracer that samples this part of new traces, from 0 to 1. Other traces follow their parent. */
export function createTracer(sampledPart: number, deps: TracerDeps): Tracer {
  return {
    start(name, options = {}) {
      const { parent } = options
      const traceId = parent?.traceId ?? traceDigits(32, deps.random)
      const context = {
        traceId,
        spanId: traceDigits(16, deps.random),
        isSampled: parent ? parent.isSampled : isWithin(traceId, sampledPart),
        state: parent?.state ?? '',
      }
      return context.isSampled
        ? new RecordingSpan(name, { ...options, context }, deps)
        : passingSpan(context)
    },
  }
}

/** Uses the last 8 bytes like OpenTelemetry's TraceIdRatioBased, so that other programs decide alike. */
function isWithin(traceId: string, part: number): boolean {
  const bound = BigInt(Math.round(part * 2 ** 53)) << 10n
  return BigInt(`0x${traceId.slice(16)}`) >> 1n < bound
}

function passingSpan(context: TraceContext): Span {
  const span: Span = {
    context,
    isRecording: false,
    set: () => undefined,
    fail: () => undefined,
    child: () => span,
    end: () => undefined,
  }
  return span
}

class RecordingSpan implements Span {
  readonly context: TraceContext
  readonly isRecording = true
  readonly #name: string
  readonly #options: SpanOptions
  readonly #deps: TracerDeps
  readonly #startMs: number
  readonly #attributes = new Map<string, SpanAttribute>()
  #error: string | undefined
  #hasEnded = false

  constructor(
    name: string,
    { context, ...options }: SpanOptions & { context: TraceContext },
    deps: TracerDeps,
  ) {
    this.context = context
    this.#name = name
    this.#options = options
    this.#deps = deps
    this.#startMs = options.startMs ?? deps.clock.now()
    this.set(options.attributes ?? {})
  }

  set(attributes: Readonly<Record<string, SpanAttribute | undefined>>): void {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === undefined) continue
      this.#attributes.set(name, typeof value === 'string' ? value.slice(0, textMax) : value)
    }
  }

  fail(message: string): void {
    this.#error ??= message.slice(0, textMax)
  }

  child(name: string, options: Omit<SpanOptions, 'parent'> = {}): Span {
    const { traceId, spanId, state } = this.context
    const context = {
      traceId,
      spanId: traceDigits(16, this.#deps.random),
      isSampled: true,
      state,
    }
    const parent = { ...this.context, spanId }
    return new RecordingSpan(name, { ...options, parent, context }, this.#deps)
  }

  end(endMs?: number): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const { kind = 'internal', links = [], parent } = this.#options
    this.#deps.onEnd({
      context: this.context,
      parentSpanId: parent?.spanId,
      links,
      name: this.#name,
      kind,
      startMs: this.#startMs,
      // The wall clock may have been set back meanwhile.
      endMs: Math.max(this.#startMs, endMs ?? this.#deps.clock.now()),
      attributes: this.#attributes,
      ...(this.#error === undefined ? {} : { error: this.#error }),
    })
  }
}
