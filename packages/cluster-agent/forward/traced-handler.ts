import { Readable } from 'node:stream'
import { messageOf, readTraceContext, traceHeaders, type Span, type Tracer } from '@skerry/base'
import type {
  TunnelHandler,
  TunnelHeaders,
  TunnelRequest,
  TunnelResponse,
  TunnelUpgraded,
} from '@skerry/tunnel'
import { isSwitched } from '@skerry/tunnel'

export interface TracedHandlerOptions {
  /** Attributes of each span, e.g. which cluster this is. */
  readonly attributes: Readonly<Record<string, string>>
  /** Host and port of what the handler asks. */
  readonly server: URL
}

/**
 * Two spans for each request: what the agent does, in the trace of its hub, whose word it takes; and
 * within it the call of the API server, which is told that it is a part of that.
 */
export function tracedHandler(
  handler: TunnelHandler,
  tracer: Tracer,
  options: TracedHandlerOptions,
): TunnelHandler {
  return {
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
  }
}

interface Spans {
  readonly request: TunnelRequest
  readonly answered: (status: number) => void
  readonly end: () => void
  /** Gives the error back. */
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
  // What is no stream is made by the agent itself, and is short.
  if (stream instanceof Readable) stream.once('close', end)
  else end()
  return answer
}

function textOf(headers: TunnelHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
