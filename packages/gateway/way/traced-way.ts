import {
  messageOf,
  readTraceContext,
  traceHeaders,
  type Span,
  type Tracer,
  type Wrapper,
} from '@skerry/base'
import type { TunnelHeaders, TunnelRequest } from '@skerry/tunnel'
import type { ClusterWay } from './cluster-way.ts'

/**
 * Records a span for each request, from its handover to the inner way until its answer begins, within the
 * request's own. The agent gets it as its parent and trusts the hub: so a hub without tracing does not
 * forward a client's trace context.
 */
export function tracedWay(tracer: Tracer | undefined): Wrapper<ClusterWay> {
  if (tracer === undefined) return untraced
  const within = async <Answer extends { status: number }>(
    cluster: string,
    request: TunnelRequest,
    ask: (traced: TunnelRequest) => Promise<Answer>,
  ): Promise<Answer> => {
    const span = spanOf(cluster, request, tracer)
    try {
      const headers = { ...request.headers, ...traceHeaders(span.context) }
      const answer = await ask({ ...request, headers })
      span.set({ 'http.response.status_code': answer.status })
      return answer
    } catch (error) {
      span.fail(messageOf(error))
      throw error
    } finally {
      span.end()
    }
  }
  return (way) => ({
    send: (cluster, request, signal) =>
      within(cluster, request, (traced) => way.send(cluster, traced, signal)),
    upgrade: (cluster, request, signal) =>
      within(cluster, request, (traced) => way.upgrade(cluster, traced, signal)),
  })
}

function untraced(way: ClusterWay): ClusterWay {
  const silent = (request: TunnelRequest): TunnelRequest => {
    if (request.headers['traceparent'] === undefined) return request
    const { traceparent: _parent, tracestate: _state, ...headers } = request.headers
    return { ...request, headers }
  }
  return {
    send: (cluster, request, signal) => way.send(cluster, silent(request), signal),
    upgrade: (cluster, request, signal) => way.upgrade(cluster, silent(request), signal),
  }
}

/** The request has the trace of the hub's own span: see the API server's tracing. */
function spanOf(cluster: string, { method, path, headers }: TunnelRequest, tracer: Tracer): Span {
  const parent = readTraceContext(textOf(headers, 'traceparent'), textOf(headers, 'tracestate'))
  return tracer.start('tunnel', {
    kind: 'client',
    ...(parent ? { parent } : {}),
    attributes: {
      cluster,
      'http.request.method': method,
      'url.path': path.split('?')[0],
      'audit-id': textOf(headers, 'audit-id'),
    },
  })
}

function textOf(headers: TunnelHeaders, name: string): string | undefined {
  const value = headers[name]
  if (value === undefined || typeof value === 'string') return value
  return value[0]
}
