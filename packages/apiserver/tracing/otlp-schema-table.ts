import { fromJSON, type MethodDefinition, type PackageDefinition } from '@grpc/proto-loader'

/**
 * The used part of OpenTelemetry's protocol (opentelemetry/proto/collector/trace/v1, trace/v1,
 * common/v1; version 1). A field has a type and a number on the wire. Fields that are not listed
 * are skipped.
 */
const messages: Readonly<Record<string, Readonly<Record<string, string>>>> = Object.freeze({
  ExportTraceServiceRequest: { resourceSpans: 'repeated ResourceSpans 1' },
  ExportTraceServiceResponse: { partialSuccess: 'ExportTracePartialSuccess 1' },
  ExportTracePartialSuccess: { rejectedSpans: 'int64 1', errorMessage: 'string 2' },
  ResourceSpans: { resource: 'Resource 1', scopeSpans: 'repeated ScopeSpans 2' },
  Resource: { attributes: 'repeated KeyValue 1' },
  ScopeSpans: { scope: 'InstrumentationScope 1', spans: 'repeated Span 2' },
  InstrumentationScope: { name: 'string 1', version: 'string 2' },
  Span: {
    traceId: 'bytes 1',
    spanId: 'bytes 2',
    traceState: 'string 3',
    parentSpanId: 'bytes 4',
    name: 'string 5',
    kind: 'int32 6',
    startTimeUnixNano: 'fixed64 7',
    endTimeUnixNano: 'fixed64 8',
    attributes: 'repeated KeyValue 9',
    links: 'repeated Link 13',
    status: 'Status 15',
    flags: 'fixed32 16',
  },
  Link: { traceId: 'bytes 1', spanId: 'bytes 2', traceState: 'string 3', flags: 'fixed32 6' },
  Status: { message: 'string 2', code: 'int32 3' },
  KeyValue: { key: 'string 1', value: 'AnyValue 2' },
  // One of the fields is set; the others are not written.
  AnyValue: {
    stringValue: 'string 1',
    boolValue: 'bool 2',
    intValue: 'int64 3',
    doubleValue: 'double 4',
  },
})

const packageName = 'opentelemetry.proto.collector.trace.v1'

export type OtlpMethod = MethodDefinition<object, OtlpAnswer>

export interface OtlpAnswer {
  readonly partialSuccess?: { readonly rejectedSpans?: number; readonly errorMessage?: string }
}

/** Loads TraceService/Export. Its message names are in one package, which the wire does not show. */
export function loadExportMethod(): OtlpMethod {
  const nested: Record<string, object> = {}
  for (const [name, fields] of Object.entries(messages)) {
    const isUnion = name === 'AnyValue'
    nested[name] = {
      fields: Object.fromEntries(Object.entries(fields).map(fieldOf)),
      ...(isUnion ? { oneofs: { value: { oneof: Object.keys(fields) } } } : {}),
    }
  }
  nested['TraceService'] = {
    methods: {
      Export: {
        requestType: 'ExportTraceServiceRequest',
        responseType: 'ExportTraceServiceResponse',
      },
    },
  }
  const definition: PackageDefinition = fromJSON(
    { nested: wrapped(packageName.split('.'), nested) },
    { longs: Number },
  )
  const service = definition[`${packageName}.TraceService`]
  // A service's entry in a package definition is its table of methods, and that one is named above.
  return (service as unknown as { Export: OtlpMethod }).Export
}

function wrapped([first, ...rest]: readonly string[], nested: object): Record<string, object> {
  return { [first ?? '']: { nested: rest.length === 0 ? nested : wrapped(rest, nested) } }
}

function fieldOf([name, text]: [string, string]): [string, object] {
  const [, repeated, type, id] = /^(repeated )?(\w+) (\d+)$/.exec(text) ?? []
  return [name, { type, id: Number(id), ...(repeated ? { rule: 'repeated' } : {}) }]
}
