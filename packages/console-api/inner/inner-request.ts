import type { ApiRequest, AuthorizedRequest } from '@skerry/apiserver'
import { whenAborted } from '@skerry/base'
import { sessionIdOf } from '../sessions/session-authenticator.ts'

/** Headers of an outer request that say nothing about the requests inside of it. */
const outerHeader = /^(?:connection|upgrade|sec-websocket-.*|content-length|accept-encoding)$/

/** Returns a GET as the outer request's client would send it by itself: the same user, rights, audit and limits hold. */
export function innerRequest(
  { request: { headers, peer }, user }: AuthorizedRequest,
  { target, accept }: { readonly target: string; readonly accept: string },
  signal: AbortSignal,
): ApiRequest {
  const kept = Object.entries(headers).filter(([name]) => !outerHeader.test(name))
  const sent: Record<string, string> = { ...Object.fromEntries(kept), accept }
  if (sessionIdOf(user) !== undefined) sent['x-skerry-console'] = '1'
  const controller = new AbortController()
  whenAborted(signal, () => controller.abort(signal.reason))
  return {
    method: 'GET',
    target,
    headers: sent,
    fields: () => Object.entries(sent),
    body: nothing(),
    peer,
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
