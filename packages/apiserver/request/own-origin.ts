import { StatusError } from '@skerry/api'
import type { ApiRequest } from '../contract/exchange.ts'
import type { RequestInfo } from '../contract/request-info.ts'

const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses requests from pages of other origins. A browser sends its user's certificate or cookie
 * with whatever a page requests. A page of another origin, or of none, as those of edges have none
 * here, cannot read an ordinary answer, but it could write, and open WebSockets, which ignore CORS.
 * Programs send no Origin, or the server's own (python's WebSockets). A browser also says where a request came from, and
 * `same-site` is a page of another port or of a sibling host, e.g. of a cluster. Throws StatusError Forbidden.
 */
export function requireOwnOrigin(
  { method, headers }: Pick<ApiRequest, 'headers' | 'method'>,
  isUpgrade: boolean,
): void {
  const { origin, host = '', 'sec-fetch-site': site = '' } = headers
  if (readMethods.has(method) && !isUpgrade) return
  if (site === 'cross-site' || site === 'same-site') {
    throw new StatusError('Forbidden', `a ${site} page may neither write here nor open sessions`)
  }
  if (origin === undefined) return
  if (isOriginOf(origin, host)) return
  throw new StatusError(
    'Forbidden',
    `a page of the origin ${JSON.stringify(origin)} may neither write here nor open sessions`,
  )
}

/**
 * Pods, services and nodes serve pages through their proxies, and those pages load more from below
 * the same path.
 */
export function isOfPages({ path }: Pick<RequestInfo, 'path'>): boolean {
  return /\/api\/v1\/(?:namespaces\/[^/]+\/(?:pods|services)|nodes)\/[^/]+\/proxy(?:\/|$)/.test(
    path,
  )
}

/** Compares without the scheme, because some clients that only use TLS still send `http`. */
function isOriginOf(origin: string, host: string): boolean {
  if (!URL.canParse(origin) || host === '') return false
  const { host: named, protocol } = new URL(origin)
  const usual = protocol === 'http:' ? ':80' : ':443'
  const whole = (text: string): string => (/:\d+$/.test(text) ? text : `${text}${usual}`)
  return whole(named.toLowerCase()) === whole(host.toLowerCase())
}
