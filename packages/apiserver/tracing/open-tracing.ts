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
  /** The origin of the spans, in OpenTelemetry's words: service.name, service.instance.id, … */
  readonly resource: Readonly<Record<string, SpanAttribute>>
  readonly version: string
}

export interface OtlpTracing extends AsyncDisposable {
  readonly tracer: Tracer
}

/** Sends spans to a collector over OTLP. Disposing it sends waiting spans, within two seconds. */
export async function createOtlpTracing(
  { endpoint, sampledPart, resource, version }: OtlpTracingOptions,
  deps: { clock: Clock; random: Random; log: Logger; metrics: Metrics },
): Promise<OtlpTracing> {
  // The gRPC client is large, so it is only loaded if tracing is on.
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
