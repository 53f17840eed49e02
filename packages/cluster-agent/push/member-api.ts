import { connectByProxy, connectByTcp, type Clock, type Connect } from '@skerry/base'
import { fixedCredentials, type HttpsTransportConfig } from '@skerry/client'
import type { PushProxy, PushTarget } from './push-target.ts'
import { clusterAgentBounds } from '../limits-table.ts'

const { connectMs } = clusterAgentBounds.memberApi

/** Returns the API server of a cluster in push mode, with this token. */
export function memberApi(
  { server, certificateAuthority, proxy }: PushTarget,
  token: string,
  clock: Clock,
): HttpsTransportConfig {
  return {
    server,
    ...(certificateAuthority === undefined
      ? { isTlsVerifySkipped: true }
      : { certificateAuthority }),
    ...(proxy ? { connect: throughProxy(proxy, clock) } : {}),
    credentials: fixedCredentials({ bearerToken: token }),
  }
}

function throughProxy({ url, login, headers }: PushProxy, clock: Clock): Connect {
  const toProxy = connectByTcp({ timeoutMs: connectMs, clock })
  const proxy = { url, headers, ...(login ? { login: async () => login } : {}) }
  return connectByProxy(proxy, toProxy, { answerMs: connectMs, clock })
}
