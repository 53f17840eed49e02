import { StatusError, checkDnsLabel } from '@skerry/api'
import { parseRequestInfo, type Attributes } from '@skerry/apiserver'
import { clusterResource } from '@skerry/fleet-kinds'

/** A request on the hub that is meant for an edge cluster's own API. */
export interface ClusterTarget {
  readonly cluster: string
  /** What the edge is asked: path and query, as the client sent them. */
  readonly target: string
}

export const clustersPrefix = '/clusters/'
/** Karmada's aggregated API: …/clusters/<name>/proxy/<path>. */
export const aggregatedPrefix = `/apis/${clusterResource.group}/${clusterResource.version}/clusters/`

/**
 * Reads the raw target, never a decoded one: hub and edge must see the same path, or a right on one
 * would open another. What two servers could read in two ways is refused.
 */
export function parseClusterTarget(target: string): ClusterTarget {
  if (lastParsed?.text !== target) lastParsed = { text: target, parsed: parse(target) }
  return lastParsed.parsed
}

/** Each request's target is asked about several times on its way. */
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
  if (checkDnsLabel(cluster).length > 0) throw refused(`"${cluster}" is no cluster name`)
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
    // Also what is not UTF-8: servers differ in what they make of it.
    throw refused('it has a malformed escape')
  }
}

function refused(why: string): StatusError {
  return new StatusError('BadRequest', `Cannot pass request to a cluster: bad path, ${why}`)
}

/** Sessions into containers and to their ports: whoever may only look must not open one with GET. */
const sessionSubresources = new Set(['attach', 'exec', 'portforward', 'proxy'])
/** Who am I, what may I do: answered to the asker alone, and nothing is kept. Byte for byte, no encoding. */
const selfReview =
  /^\/apis\/(?:authentication\.k8s\.io\/v1(?:alpha1|beta1)?\/selfsubjectreviews|authorization\.k8s\.io\/v1\/selfsubject(?:access|rules)reviews)(?:\?|$)/
/**
 * True for an upgrade that can bring events or a log and nothing else. Any other passes bytes both ways that
 * nobody reads, whatever the edge calls it, so whoever may only look must not open it.
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
 * What the hub's RBAC is asked: clusters/proxy of this name, by the verb that the edge will see. Whoever
 * may read may ask the edge about themselves, too, which is a POST.
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
