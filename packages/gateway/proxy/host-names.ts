import { StatusError, checkDnsLabel } from '@skerry/api'
import type { ApiRequest } from '@skerry/apiserver'
import { clustersPrefix } from './cluster-path.ts'

export interface HostNamesOptions {
  /** `<cluster>.<this>` is that cluster's API. Absent: clusters have paths only. */
  readonly clusterDomain?: string | undefined
}

/**
 * The target that a request means, by the host name that it was sent to: `https://edge.clusters.example.com/api`
 * is `/clusters/edge/api`, for clients that take no path. From there on it is the same request: who, may
 * they, audit, and the check of the path. The name of the TLS connection and the Host must agree, because
 * what stands between client and hub may go by either. Throws BadRequest, with 421 (RFC 9110, 15.5.20)
 * where a name is meant that this connection is not for.
 */
export function createHostNames({
  clusterDomain,
}: HostNamesOptions): (request: ApiRequest) => string {
  const suffix = clusterDomain === undefined ? undefined : `.${clusterDomain.toLowerCase()}`
  const isOfCluster = (name: string): boolean => suffix !== undefined && name.endsWith(suffix)
  return (request) => {
    const { target, peer } = request
    if (peer.type === 'process') return target
    // Absolute-form (RFC 9112, 3.2.2) names a second host beside Host: nobody needs it here.
    if (!target.startsWith('/')) throw badRequest('its target is not a path')
    const host = hostOf(request)
    const serverName = bareName(peer.serverName ?? '')
    if (!isOfCluster(host) && !isOfCluster(serverName)) return target
    if (host !== serverName) {
      throw misdirected('the name of its TLS connection and its Host are not the same')
    }
    const cluster = host.slice(0, -(suffix ?? '').length)
    if (checkDnsLabel(cluster).length > 0) throw misdirected('its Host names no cluster')
    return `${clustersPrefix}${cluster}${target}`
  }
}

/** Throws where a request has none, or several that differ. */
function hostOf({ fields }: ApiRequest): string {
  const found: { host?: string; ':authority'?: string } = {}
  for (const [rawName, value] of fields()) {
    const name = rawName.toLowerCase()
    if (name !== 'host' && name !== ':authority') continue
    if (found[name] !== undefined) throw badRequest('it has more than one Host')
    found[name] = value
  }
  const { host = found[':authority'] ?? '', ':authority': authority = host } = found
  if (host !== authority) throw badRequest('it has more than one Host')
  // HTTP/1.0 knows no Host; what has none means no cluster by it.
  if (/[\s,/@\\?#]/.test(host)) throw badRequest('its Host is not a name')
  return bareName(host)
}

/** Without port and the dot of the root; names of DNS are the same in any case. */
function bareName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
}

function badRequest(why: string): StatusError {
  return new StatusError('BadRequest', `Cannot serve request: ${why}`)
}

function misdirected(why: string): StatusError {
  return new StatusError('BadRequest', `Cannot serve request here: ${why}`, { code: 421 })
}
