import { Client, credentials, Metadata } from '@grpc/grpc-js'
import {
  unaryCall,
  type SpanAttribute,
  type SpanData,
  type SpanExporter,
  type SpanKind,
  type TraceContext,
} from '@skerry/base'
import { loadExportMethod, type OtlpAnswer } from './otlp-schema-table.ts'
import { apiServerBounds } from '../limits-table.ts'

export interface OtlpResource {
  /** `service.name` and other attributes of the spans' origin. */
  readonly attributes: Readonly<Record<string, SpanAttribute>>
  readonly scope: { readonly name: string; readonly version: string }
}

const { callMs } = apiServerBounds.otlpExporter
const kinds: Readonly<Record<SpanKind, number>> = Object.freeze({
  internal: 1,
  server: 2,
  client: 3,
})
const statusError = 2

/** Exports OTLP over gRPC, unencrypted, as upstream's components do. */
export function createOtlpExporter(endpoint: string, resource: OtlpResource): SpanExporter {
  const method = loadExportMethod()
  const client = new Client(targetOf(endpoint), credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.max_reconnect_backoff_ms': 10_000,
  })
  return {
    async export(spans, signal) {
      const answer = await unaryCall(
        client,
        {
          method,
          request: requestOf(spans, resource),
          metadata: new Metadata({ waitForReady: true }),
          timeoutMs: callMs,
        },
        signal,
      )
      const rejected = answer.partialSuccess?.rejectedSpans ?? 0
      if (rejected > 0) throw new Error(refusalOf(rejected, answer))
    },
    [Symbol.dispose]: () => client.close(),
  }
}

/** gRPC's own name for a socket has no `//`. */
function targetOf(endpoint: string): string {
  return endpoint.startsWith('unix://') ? `unix:${endpoint.slice('unix://'.length)}` : endpoint
}

function refusalOf(rejected: number, { partialSuccess }: OtlpAnswer): string {
  return `Cannot export spans: ${rejected} were rejected: ${partialSuccess?.errorMessage ?? ''}`
}

function requestOf(spans: readonly SpanData[], { attributes, scope }: OtlpResource): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: keyValues(Object.entries(attributes)) },
        scopeSpans: [{ scope, spans: spans.map(spanOf) }],
      },
    ],
  }
}

function spanOf(span: SpanData): object {
  const { parentSpanId, name, kind, startMs, endMs, attributes, links, error } = span
  return {
    ...contextOf(span.context),
    ...(parentSpanId === undefined ? {} : { parentSpanId: Buffer.from(parentSpanId, 'hex') }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanosOf(startMs),
    endTimeUnixNano: nanosOf(endMs),
    attributes: keyValues(attributes),
    links: links.map(contextOf),
    ...(error === undefined ? {} : { status: { code: statusError, message: error } }),
  }
}

function contextOf({ traceId, spanId, state, isSampled }: TraceContext): object {
  return {
    traceId: Buffer.from(traceId, 'hex'),
    spanId: Buffer.from(spanId, 'hex'),
    traceState: state,
    flags: isSampled ? 1 : 0,
  }
}

/** Returns text, because a double cannot hold the number exactly. */
function nanosOf(ms: number): string {
  return (BigInt(Math.round(ms * 1_000)) * 1_000n).toString()
}

function keyValues(attributes: Iterable<readonly [string, SpanAttribute]>): object[] {
  return [...attributes].map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: SpanAttribute): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: value } : { doubleValue: value }
}
