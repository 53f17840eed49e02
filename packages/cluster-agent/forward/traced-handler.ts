import { Readable } from 'node:stream'
import {
  messageOf,
  readTraceContext,
  traceHeaders,
  type Span,
  type Tracer,
  type Wrapper,
} from '@skerry/base'
import type {
  TunnelHandler,
  TunnelHeaders,
  TunnelRequest,
  TunnelResponse,
  TunnelUpgraded,
} from '@skerry/tunnel'
import { isSwitched } from '@skerry/tunnel'

export interface TracedHandlerOptions {
  /** The attributes of each span, such as the cluster's name. */
  readonly attributes: Readonly<Record<string, string>>
  /** The host and port that the handler calls. */
  readonly server: URL
}

/**
 * Records two spans for each request: the agent's work, as part of its hub's trace, which it trusts; and
 * within it the API server's call, which gets that span as its parent.
 */
export function tracedHandler(
  tracer: Tracer,
  options: TracedHandlerOptions,
): Wrapper<TunnelHandler> {
  return (handler) => ({
    async onRequest(request, signal) {
      const spans = open(request, tracer, options)
      try {
        return followed(await handler.onRequest(spans.request, signal), spans)
      } catch (error) {
        throw spans.failed(error)
      }
    },
    async onUpgrade(request, signal) {
      const spans = open(request, tracer, options)
      try {
        return followed(await handler.onUpgrade(spans.request, signal), spans)
      } catch (error) {
        throw spans.failed(error)
      }
    },
  })
}

interface Spans {
  readonly request: TunnelRequest
  readonly answered: (status: number) => void
  readonly end: () => void
  /** Returns the error again. */
  readonly failed: (error: unknown) => unknown
}

function open(
  request: TunnelRequest,
  tracer: Tracer,
  { attributes, server }: TracedHandlerOptions,
): Spans {
  const { method, headers } = request
  const [path = ''] = request.path.split('?')
  const parent = readTraceContext(textOf(headers, 'traceparent'), textOf(headers, 'tracestate'))
  const own = tracer.start(method, {
    kind: 'server',
    ...(parent ? { parent } : {}),
    attributes: {
      ...attributes,
      'http.request.method': method,
      'url.path': path,
      'audit-id': textOf(headers, 'audit-id'),
    },
  })
  const call = own.child(`HTTP ${method}`, {
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'url.full': new URL(path, server).href,
      'server.address': server.hostname,
      'server.port': Number(server.port) || (server.protocol === 'http:' ? 80 : 443),
    },
  })
  return {
    request: { ...request, headers: { ...headers, ...traceHeaders(call.context) } },
    ...endOf(own, call),
  }
}

function endOf(own: Span, call: Span): Pick<Spans, 'answered' | 'end' | 'failed'> {
  const end = (): void => {
    call.end()
    own.end()
  }
  return {
    answered(status) {
      for (const span of [call, own]) {
        span.set({ 'http.response.status_code': status })
        if (status >= 500) span.fail('')
      }
    },
    end,
    failed(error) {
      for (const span of [call, own]) {
        span.fail(messageOf(error))
      }
      end()
      return error
    },
  }
}

function followed<Answer extends TunnelResponse | TunnelUpgraded>(
  answer: Answer,
  { answered, end }: Spans,
): Answer {
  answered(answer.status)
  const stream = isSwitched(answer) ? answer.stream : answer.body
  // The agent itself made an answer that is not a stream; it is short.
  if (stream instanceof Readable) stream.once('close', end)
  else end()
  return answer
}

function textOf(headers: TunnelHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
