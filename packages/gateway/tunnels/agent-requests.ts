import type { ApiAnswer, ApiRequest } from '@skerry/apiserver'
import { whenAborted } from '@skerry/base'
import { WholeBody, type TunnelBody, type TunnelHandler, type TunnelHeaders } from '@skerry/tunnel'

/** Answers a request as if it had come on a connection of its own. Never rejects. */
export type AnswerRequest = (request: ApiRequest) => Promise<ApiAnswer>

/**
 * Answers the requests that an agent sends through its tunnel: with the identity of the tunnel's own connection, and with the
 * same checks, limits and records as over HTTPS.
 */
export function agentRequests(answer: AnswerRequest, peer: ApiRequest['peer']): TunnelHandler {
  return {
    async onRequest({ method, path: target, headers, body = nothing() }, signal) {
      const controller = new AbortController()
      whenAborted(signal, () => controller.abort(signal.reason))
      const { status, ...answered } = await answer({
        method,
        target,
        headers: joined(headers),
        fields: () => fieldsOf(headers),
        body: body instanceof Uint8Array ? new WholeBody(body) : body,
        peer,
        signal: controller.signal,
        abort: (reason) => controller.abort(reason),
      })
      return { status, headers: answered.headers, body: bodyOf(answered.body) }
    },
    onUpgrade: async () => ({
      status: 400,
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: new WholeBody(noUpgrades),
    }),
  }
}

const noUpgrades = Buffer.from('Cannot upgrade: agents open connections of their own for that\n')

async function* nothing(): AsyncGenerator<Uint8Array> {}

function joined(headers: TunnelHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value.join(', '),
    ]),
  )
}

function fieldsOf(headers: TunnelHeaders): (readonly [name: string, value: string])[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((each) => [name, each] as const),
  )
}

function bodyOf(body: ApiAnswer['body']): TunnelBody {
  if (body instanceof Uint8Array) return new WholeBody(body)
  return Symbol.asyncIterator in body ? body : piecesOf(body)
}

async function* piecesOf(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces
}
