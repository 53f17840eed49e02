import { serverCertificateEnd, type ClusterClient, type HttpsTransportConfig } from '@skerry/client'
import { EdgeObserver } from '@skerry/cluster-agent'
import type { RoleContext } from '../runtime/role-context.ts'

/** Observes the cluster through `local`, and the certificate of its API server on connections of its own. */
export function openObserver(
  local: ClusterClient,
  api: HttpsTransportConfig,
  { clock, random, log }: Pick<RoleContext, 'clock' | 'random' | 'log'>,
): EdgeObserver {
  const certificateEnd = (signal: AbortSignal) => serverCertificateEnd(api, { clock }, signal)
  return new EdgeObserver({ local, clock, random, log, certificateEnd })
}
