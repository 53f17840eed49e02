import { StatusError, checkDnsLabel } from '@skerry/api'
import type { ApiRequest } from '@skerry/apiserver'
import { clustersPrefix } from './cluster-path.ts'

export interface HostNamesOptions {
  /** The domain under which `<cluster>.<domain>` is that cluster's API. If omitted, clusters have paths only. */
  readonly clusterDomain?: string | undefined
}

/**
 * Derives a request's target from the host name to which it was sent: `https://edge.clusters.example.com/api`
 * becomes `/clusters/edge/api`, for clients that cannot use a path. After that it is handled like any other
 * request: authentication, authorization, audit, and the check of the path. The server name of the TLS
 * connection and the Host must agree, because a proxy between client and hub may route by either. Throws
 * BadRequest, with code 421 (RFC 9110, 15.5.20) if the name does not match the connection.
 */
export function createHostNames({
  clusterDomain,
}: HostNamesOptions): (request: ApiRequest) => string {
  const suffix = clusterDomain === undefined ? undefined : `.${clusterDomain.toLowerCase()}`
  const isOfCluster = (name: string): boolean => suffix !== undefined && name.endsWith(suffix)
  return (request) => {
    const { target, peer } = request
    if (peer.type === 'process') return target
    // A target in absolute form (RFC 9112, 3.2.2) names a second host in addition to Host. No client needs it
    // here.
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
  // HTTP/1.0 has no Host; such a request names no cluster by it.
  if (/[\s,/@\\?#]/.test(host)) throw badRequest('its Host is not a name')
  return bareName(host)
}

/** Removes the port and the root's dot. DNS names are case-insensitive. */
function bareName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
}

function badRequest(why: string): StatusError {
  return new StatusError('BadRequest', `Cannot serve request: ${why}`)
}

function misdirected(why: string): StatusError {
  return new StatusError('BadRequest', `Cannot serve request here: ${why}`, { code: 421 })
}
