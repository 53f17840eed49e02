import {
  readTraceContext,
  traceHeaders,
  type Clock,
  type Span,
  type SpanAttribute,
  type Tracer,
} from '@skerry/base'
import type { UserInfo } from '../contract/access.ts'
import { isPushed, isWhole, type ApiAnswer, type ApiRequest } from '../contract/exchange.ts'
import type { RequestInfo } from '../contract/request-info.ts'

export interface RequestTracing {
  readonly tracer: Tracer
  /** Returns true for users whose trace headers are trusted, in addition to those that upstream trusts. */
  readonly trusts?: ((user: UserInfo) => boolean) | undefined
}

/** The spans of one request. */
export interface RequestTrace {
  /** The span, also for parts of the request that are done elsewhere. */
  readonly span: Span
  /** Returns the request with trace headers, so that the next server continues the trace. */
  passedOn(request: ApiRequest): ApiRequest
  authorized(): void
  /** Ends the span with the answer's body. */
  answered(answer: ApiAnswer): ApiAnswer
  /** Ends the span of a request that became a session, or was refused one. */
  ended(status: number): void
}

export interface TracedRequest {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly auditId: string
  readonly startedAtMs: number
}

/** Upstream's groups: others could cause everything to be traced, or hide in another user's trace. */
const trustedGroups: readonly string[] = ['system:masters', 'system:monitoring']

/**
 * Begins a trace when the caller is known; the time since the request came counts as
 * authentication. A trusted caller's trace continues. For others a new trace begins, which is
 * linked to theirs.
 */
export function openRequestTrace(
  { request, info, auditId, startedAtMs }: TracedRequest,
  user: UserInfo | undefined,
  { tracer, trusts }: RequestTracing,
  clock: Clock,
): RequestTrace {
  const { traceparent, tracestate } = request.headers
  const asked = readTraceContext(traceparent, tracestate)
  const isTrusted =
    user !== undefined &&
    (user.groups.some((group) => trustedGroups.includes(group)) || trusts?.(user) === true)
  const span = tracer.start(spanName(info), {
    kind: 'server',
    startMs: startedAtMs,
    ...(asked && isTrusted ? { parent: asked } : {}),
    ...(asked && !isTrusted ? { links: [asked] } : {}),
  })
  if (!span.isRecording) return passingTrace(span)
  span.set(requestAttributes(request, info, auditId))
  span.child('authentication', { startMs: startedAtMs }).end()
  return recordingTrace(span, { request, info, auditId, identifiedMs: clock.now() })
}

function passingTrace(span: Span): RequestTrace {
  return {
    span,
    passedOn: (request) => withTrace(request, span),
    authorized: () => undefined,
    answered: (answer) => answer,
    ended: () => undefined,
  }
}

function recordingTrace(
  span: Span,
  traced: Omit<TracedRequest, 'startedAtMs'> & { identifiedMs: number },
): RequestTrace {
  let served: Span | undefined
  const ended = (status: number): void => {
    served?.end()
    span.set({ 'http.response.status_code': status })
    if (status >= 500) span.fail('')
    span.end()
  }
  return {
    span,
    passedOn: (request) => withTrace(request, span),
    authorized() {
      span.child('authorization', { startMs: traced.identifiedMs }).end()
      const name = verbNames[traced.info.verb]
      if (name === undefined || !traced.info.isResourceRequest) return
      served = span.child(name, { attributes: callAttributes(traced) })
    },
    answered(answer) {
      const { body, status } = answer
      if (isWhole(body)) span.set({ 'http.response.body.size': body.length })
      // Other answers are written later, elsewhere.
      if (isWhole(body) || isPushed(body) || !(Symbol.asyncIterator in body)) {
        ended(status)
        return answer
      }
      return {
        ...answer,
        body: followed(body, (bytes) => {
          span.set({ 'http.response.body.size': bytes })
          ended(status)
        }),
      }
    },
    ended,
  }
}

async function* followed(
  body: AsyncIterable<Uint8Array>,
  onEnd: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  try {
    for await (const piece of body) {
      bytes += piece.length
      yield piece
    }
  } finally {
    onEnd(bytes)
  }
}

function withTrace(request: ApiRequest, { context }: Span): ApiRequest {
  const { traceparent: _parent, tracestate: _state, ...others } = request.headers
  const own = traceHeaders(context)
  const fields = request.fields
  return {
    ...request,
    headers: { ...others, ...own },
    fields: () => [
      ...fields().filter(([name]) => !/^trace(parent|state)$/i.test(name)),
      ...Object.entries(own),
    ],
  }
}

/** Leaves out what is specific to one object, so that there are few span names. */
function spanName({ method, isResourceRequest, prefix, resource, ...info }: RequestInfo): string {
  if (!isResourceRequest) return method
  const parts = [
    prefix,
    ...(resource.group === '' ? [] : [resource.group]),
    resource.version,
    ...(info.namespace === '' ? [] : ['namespaces', '{:namespace}']),
    resource.resource,
    ...(info.name === '' ? [] : ['{:name}']),
    ...(info.subresource === '' ? [] : [info.subresource]),
  ]
  return `${method} /${parts.join('/')}`
}

const verbNames: Readonly<Record<string, string>> = Object.freeze({
  create: 'Create',
  delete: 'Delete',
  deletecollection: 'Delete',
  get: 'Get',
  list: 'List',
  patch: 'Patch',
  update: 'Update',
  watch: 'WatchServer.HandleHTTP',
})

type Attributes = Readonly<Record<string, SpanAttribute | undefined>>

/** Returns OpenTelemetry's attributes for HTTP servers, as upstream writes them. */
function requestAttributes(request: ApiRequest, info: RequestInfo, auditId: string): Attributes {
  const { headers, peer, message } = request
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(headers['host'] ?? '') ?? []
  const address = peer.type === 'socket' ? peer.address : undefined
  return {
    'server.address': host,
    'http.request.method': request.method,
    'url.scheme': 'https',
    'server.port': port === undefined ? undefined : Number(port),
    'network.peer.address': address,
    'user_agent.original': headers['user-agent'],
    'client.address': address,
    'url.path': info.path,
    'network.protocol.version': peer.type === 'process' ? undefined : (message?.httpVersion ?? '2'),
    'http.target': request.target,
    'audit-id': auditId,
  }
}

/** Returns upstream's attributes for resource handlers. */
function callAttributes({
  request,
  info,
  auditId,
}: Omit<TracedRequest, 'startedAtMs'>): Attributes {
  const { headers, peer, message } = request
  const { resource, namespace, name } = info
  return {
    accept: headers['accept'] ?? '',
    'audit-id': auditId,
    client: peer.type === 'socket' ? peer.address : '',
    'api-group': resource.group,
    'api-version': resource.version,
    name,
    subresource: info.subresource,
    namespace,
    protocol: `HTTP/${message?.httpVersion ?? '2.0'}`,
    resource: resource.resource,
    scope: scopeOf(info),
    url: info.path,
    'user-agent': headers['user-agent'] ?? '',
    verb: request.method,
  }
}

function scopeOf({ name, namespace }: RequestInfo): string {
  if (name !== '') return 'resource'
  return namespace === '' ? 'cluster' : 'namespace'
}
