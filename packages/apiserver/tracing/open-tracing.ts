import {
  createTracer,
  SpanQueue,
  type Clock,
  type Logger,
  type Metrics,
  type Random,
  type SpanAttribute,
  type Tracer,
} from '@skerry/base'
import type { TracingConfig } from './tracing-config.ts'

export interface OtlpTracingOptions extends TracingConfig {
  /** Whose spans these are, in OpenTelemetry's words: service.name, service.instance.id, … */
  readonly resource: Readonly<Record<string, SpanAttribute>>
  readonly version: string
}

export interface OtlpTracing extends AsyncDisposable {
  readonly tracer: Tracer
}

/** Spans go to a collector by OTLP. Disposing it sends what waits, within two seconds. */
export async function createOtlpTracing(
  { endpoint, sampledPart, resource, version }: OtlpTracingOptions,
  deps: { clock: Clock; random: Random; log: Logger; metrics: Metrics },
): Promise<OtlpTracing> {
  // The client of gRPC is large: only those that trace have it in memory.
  const { createOtlpExporter } = await import('./otlp-exporter.ts')
  const exporter = createOtlpExporter(endpoint, {
    attributes: resource,
    scope: { name: 'skerry', version },
  })
  const queue = new SpanQueue(exporter, deps)
  const { clock, random } = deps
  return {
    tracer: createTracer(sampledPart, { clock, random, onEnd: (span) => queue.push(span) }),
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  }
}
