import type { Transport } from '@skerry/client'
import type { UserInfo } from '../contract/access.ts'
import type { ApiAnswer, ApiRequest } from '../contract/exchange.ts'

/**
 * Creates a transport for callers in this process: the same pipeline as for sockets, but no TLS,
 * HTTP or copy. Its answers are not counted as unread, because its callers are the program's own
 * parts, a fixed number, and share the cache's bytes. A user who reads through one of them, as
 * through the hub, is counted at that user's socket.
 */
export function inProcessTransport(
  user: UserInfo,
  onRequest: (request: ApiRequest) => Promise<ApiAnswer>,
): Transport {
  return {
    async send(request, signal) {
      signal.throwIfAborted()
      const answer = await onRequest({
        method: request.method,
        target: request.path,
        headers: request.headers,
        fields: () => Object.entries(request.headers),
        body: bodyOf(request.body),
        peer: { type: 'process', user },
        signal,
      })
      signal.throwIfAborted()
      return {
        status: answer.status,
        headers: flat(answer.headers),
        body: abortable(answer.body, signal),
      }
    },
  }
}

async function* bodyOf(body: Uint8Array | undefined): AsyncGenerator<Uint8Array> {
  if (body !== undefined && body.length > 0) yield body
}

async function* abortable(
  body: ApiAnswer['body'],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) {
    if (body.length > 0) yield body
    return
  }
  for await (const part of body) {
    signal.throwIfAborted()
    yield part
  }
  signal.throwIfAborted()
}

function flat(headers: ApiAnswer['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value.join(', '),
    ]),
  )
}
