import { messageOf, readTraceContext, traceHeaders, type Span, type Tracer } from '@skerry/base'
import type { TunnelHeaders, TunnelRegistry, TunnelRequest } from '@skerry/tunnel'

type Way = Pick<TunnelRegistry, 'send' | 'upgrade'>

/**
 * Records a span for each request, from its handover to the tunnels until its answer begins, within the
 * request's own. The agent gets it as its parent and trusts the hub: so a hub without tracing does not
 * forward a client's trace context.
 */
export function tracedTunnels(tunnels: Way, tracer: Tracer | undefined): Way {
  if (tracer === undefined) return silentTunnels(tunnels)
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
  return {
    send: (cluster, request, signal) =>
      within(cluster, request, (traced) => tunnels.send(cluster, traced, signal)),
    upgrade: (cluster, request, signal) =>
      within(cluster, request, (traced) => tunnels.upgrade(cluster, traced, signal)),
  }
}

function silentTunnels(tunnels: Way): Way {
  const silent = (request: TunnelRequest): TunnelRequest => {
    if (request.headers['traceparent'] === undefined) return request
    const { traceparent: _parent, tracestate: _state, ...headers } = request.headers
    return { ...request, headers }
  }
  return {
    send: (cluster, request, signal) => tunnels.send(cluster, silent(request), signal),
    upgrade: (cluster, request, signal) => tunnels.upgrade(cluster, silent(request), signal),
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
