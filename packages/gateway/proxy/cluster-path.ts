import { StatusError, checkDnsLabel } from '@skerry/api'
import { parseRequestInfo, type Attributes } from '@skerry/apiserver'
import { clusterResource } from '@skerry/fleet-kinds'

/** A request on the hub that is meant for an edge cluster's own API. */
export interface ClusterTarget {
  readonly cluster: string
  /** The path and query for the edge, as the client sent them. */
  readonly target: string
}

export const clustersPrefix = '/clusters/'
/** Karmada's aggregated API: …/clusters/<name>/proxy/<path>. */
export const aggregatedPrefix = `/apis/${clusterResource.group}/${clusterResource.version}/clusters/`

/**
 * Parses the raw target, never a decoded one: hub and edge must see the same path, or a right to one path
 * would open another. Throws if two servers could read the target differently.
 */
export function parseClusterTarget(target: string): ClusterTarget {
  if (lastParsed?.text !== target) lastParsed = { text: target, parsed: parse(target) }
  return lastParsed.parsed
}

/** Caches the last target, because each request's target is parsed several times. */
let lastParsed: { readonly text: string; readonly parsed: ClusterTarget } | undefined

function parse(target: string): ClusterTarget {
  const [path = '', ...queries] = target.split('?')
  const query = queries.length === 0 ? '' : `?${queries.join('?')}`
  const isAggregated = path.startsWith(aggregatedPrefix)
  if (!isAggregated && !path.startsWith(clustersPrefix))
    throw refused('it is spelled in a way that hides the cluster')
  const [cluster = '', ...parts] = path
    .slice(isAggregated ? aggregatedPrefix.length : clustersPrefix.length)
    .split('/')
  if (checkDnsLabel(cluster).length > 0) throw refused(`"${cluster}" is not a cluster name`)
  if (isAggregated && parts.shift() !== 'proxy') throw refused('proxy does not follow the name')
  for (const [index, part] of parts.entries()) checkPart(part, index === parts.length - 1)
  return { cluster, target: `/${parts.join('/')}${query}` }
}

function checkPart(part: string, isLast: boolean): void {
  if (part === '') {
    if (isLast) return
    throw refused('it has an empty part')
  }
  const decoded = decode(part)
  if (decoded === '.' || decoded === '..') throw refused('it has a relative part')
  // oxlint-disable-next-line no-control-regex
  if (/[/\\#\x00-\x1f\x7f]/.test(decoded))
    throw refused('it has an encoded slash or control character')
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // This also rejects escapes that are not UTF-8, which servers handle differently.
    throw refused('it has a malformed escape')
  }
}

function refused(why: string): StatusError {
  return new StatusError('BadRequest', `Cannot pass request to a cluster: bad path, ${why}`)
}

/**
 * The subresources that open sessions into containers and to their ports. A user with read access must not
 * open one with GET.
 */
const sessionSubresources = new Set(['attach', 'exec', 'portforward', 'proxy'])
/**
 * Reviews of the asking user, which are answered to that user only and stored nowhere. The path matches byte
 * for byte, without escapes.
 */
const selfReview =
  /^\/apis\/(?:authentication\.k8s\.io\/v1(?:alpha1|beta1)?\/selfsubjectreviews|authorization\.k8s\.io\/v1\/selfsubject(?:access|rules)reviews)(?:\?|$)/
/**
 * Returns true for an upgrade that can only deliver events or a log. Any other upgrade passes unread bytes
 * both ways, whatever the edge calls it, so a user with read access must not open it.
 */
export function onlyReads({ target }: ClusterTarget): boolean {
  const { isResourceRequest, verb, subresource } = parseRequestInfo('GET', target)
  if (!isResourceRequest) return false
  return subresource === 'log' || (verb === 'watch' && subresource === '')
}

const verbOfMethod: Readonly<Record<string, string>> = Object.freeze({
  head: 'get',
  post: 'create',
  put: 'update',
})

/**
 * Returns the attributes for the hub's RBAC: clusters/proxy of this name, with the verb that the edge will
 * see. A user who may read may also send the edge self reviews, which are POST requests.
 */
export function clusterProxyAttributes(
  method: string,
  { cluster, target }: ClusterTarget,
): Omit<Attributes, 'user'> {
  const info = parseRequestInfo(method, target)
  const isSession = info.isResourceRequest && sessionSubresources.has(info.subresource)
  const isSelfReview = method === 'POST' && selfReview.test(target)
  const seen = isSelfReview ? 'get' : (verbOfMethod[info.verb] ?? info.verb)
  return {
    verb: isSession ? 'create' : seen,
    isResourceRequest: true,
    resource: clusterResource,
    subresource: 'proxy',
    name: cluster,
    namespace: '',
    path: '',
  }
}
