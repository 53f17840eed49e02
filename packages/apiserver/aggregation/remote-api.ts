import { peerHeadOf, type HeaderRecord } from '@skerry/base'
import { textAnswer, type ApiAnswer } from '../contract/exchange.ts'
import type { AuthorizedRequest } from '../contract/authorized-request.ts'
import type { UpgradeSocket } from '../contract/subresource.ts'
import { passUpgrade, writePlainRefusal } from '../subresources/backend/upgrade-tunnel.ts'
import type { BackendAnswer } from '../subresources/backend/backend-request.ts'
import type { AggregatedApi } from './aggregated-api.ts'
import {
  callExtension,
  ExtensionServerError,
  toExtension,
  type ExtensionCallDeps,
  type ExtensionServer,
} from './extension-server.ts'

/** Passes requests of one group version on to the extension server that serves it. */
export function createRemoteApi(
  server: ExtensionServer,
  isAvailable: boolean,
  deps: ExtensionCallDeps,
): AggregatedApi {
  return {
    async serve(admitted) {
      if (!isAvailable) return unavailable
      try {
        const answer = await callExtension(
          server,
          requestOf(admitted),
          deps,
          admitted.request.signal,
        )
        return toAnswer(answer, admitted.request.method, server)
      } catch (error) {
        return failureAnswer(error)
      }
    },
    async upgrade(admitted, client: UpgradeSocket) {
      if (!isAvailable) return writePlainRefusal(client, 503, 'service unavailable\n')
      try {
        const { endpoint: _endpoint, ...backend } = toExtension(server, requestOf(admitted), deps)
        await passUpgrade(backend, client, admitted.request.signal)
      } catch (error) {
        if (!(error instanceof ExtensionServerError)) throw error
        writePlainRefusal(client, 503, 'service unavailable\n')
      }
    },
  }
}

const unavailable = textAnswer(503, 'service unavailable\n')

function requestOf({ request, user, auditId }: AuthorizedRequest) {
  const { method, target, headers } = request
  const hasBody =
    method !== 'GET' && method !== 'HEAD' && headers.upgrade === undefined
      ? { body: request.body }
      : {}
  return {
    method,
    path: target,
    headers: { ...headers, 'audit-id': auditId },
    user,
    clientAddress: request.peer.type === 'socket' ? request.peer.address : '127.0.0.1',
    ...hasBody,
  }
}

function failureAnswer(error: unknown): ApiAnswer {
  if (!(error instanceof ExtensionServerError)) throw error
  // Without an endpoint upstream gives no reason; with one it says why there was no answer.
  return error.endpoint
    ? textAnswer(503, `error trying to reach service: ${error.message}\n`)
    : unavailable
}

/**
 * A redirect would make this server's clients, or the server itself, call a server that was never
 * registered.
 */
const redirected = textAnswer(
  502,
  'the backend attempted to redirect this request, which is not permitted',
)

function toAnswer(answer: BackendAnswer, method: string, server: ExtensionServer): ApiAnswer {
  const { response } = answer
  const { namespace, name } = server.service
  try {
    const peer = `the extension server ${namespace}/${name}`
    const head = peerHeadOf(response, { peer, method })
    const { status, hasBody } = head
    const headers = confined(head.headers)
    const isRedirect = status >= 300 && status < 400 && headers['location'] !== undefined
    if (hasBody && !isRedirect) return { status, headers, body: response }
    response.destroy()
    return isRedirect ? redirected : { status, headers, body: nothing() }
  } catch (error) {
    if (answer.type === 'upgrade') answer.socket.destroy()
    response.destroy()
    throw error
  }
}

const sandbox = 'sandbox'

/**
 * Gives a page of an extension server an origin of its own; otherwise it could act as its reader at this server. No
 * API sets cookies.
 */
function confined(headers: HeaderRecord): HeaderRecord {
  const { 'set-cookie': _, 'content-security-policy': policies = [], ...kept } = headers
  const own = typeof policies === 'string' ? [policies] : policies
  return {
    ...kept,
    'content-security-policy': [...own, sandbox],
    'x-content-type-options': 'nosniff',
  }
}

/** This is a stream, because a whole body would get a length, which an answer to HEAD has already. */
async function* nothing(): AsyncGenerator<Uint8Array> {
  // The head says everything.
}
