import { StatusError, checkDnsLabel } from '@skerry/api'
import type { Attributes } from '@skerry/apiserver'
import { clusterResource, edgeServiceOf, type EdgeService } from '@skerry/fleet-kinds'
import { clustersPrefix } from '../proxy/cluster-path.ts'

/** A request on the hub that is meant for a service of an edge cluster. */
export interface ServiceTarget {
  readonly cluster: string
  readonly service: EdgeService
  /** The service speaks TLS: the path names it `https:<name>:<port>`. */
  readonly isTls: boolean
  /** The service's path below the cluster, as the client spelled it: `/services/shop/web:80`. */
  readonly place: string
  /** False where the path ends with the service, without a slash behind it. */
  readonly hasPath: boolean
  /** The path and query for the service, as the client sent them. */
  readonly target: string
}

/** Reports whether a decoded path is `/clusters/<name>/services/…`, which no Kubernetes API server has. */
export function isServicePath(path: string): boolean {
  return /^\/clusters\/[^/]*\/services(?:\/|$)/.test(path)
}

/**
 * Parses the raw target. The part before the service's own path decides about rights, so it must be
 * unambiguous. The rest is left to the service, except for parent directories, which a proxy might resolve.
 * Throws BadRequest.
 */
export function parseServiceTarget(target: string): ServiceTarget {
  const at = target.indexOf('?')
  const path = at < 0 ? target : target.slice(0, at)
  const query = at < 0 ? '' : target.slice(at)
  const [, , cluster = '', word, namespace = '', named = '', ...rest] = path.split('/')
  if (!path.startsWith(clustersPrefix) || word !== 'services')
    throw refused('it is spelled in a way that hides the service')
  if (checkDnsLabel(cluster).length > 0) throw refused(`"${cluster}" is not a cluster name`)
  const { isTls, name, port } = splitName(decoded(named))
  const service = edgeServiceOf({ namespace: decoded(namespace), name, port })
  if (service === undefined)
    throw refused('want /clusters/<cluster>/services/<namespace>/<name>:<port>/')
  const inner = `/${rest.join('/')}`
  if (/[\\/](?:\.|%2e){1,2}(?:[\\/]|$)/i.test(inner)) throw refused('it has a relative part')
  if (inner.includes('#')) throw refused('it has a fragment')
  return {
    cluster,
    service,
    isTls,
    place: `/services/${namespace}/${named}`,
    hasPath: rest.length > 0,
    target: `${inner}${query}`,
  }
}

/** Parses `name:port`, or `https:name:port`. */
function splitName(text: string): { isTls: boolean; name: string; port: string } {
  const parts = text.split(':')
  const [scheme] = parts
  const hasScheme = parts.length === 3 && (scheme === 'http' || scheme === 'https')
  const [name = '', port = '', ...more] = hasScheme ? parts.slice(1) : parts
  return { isTls: hasScheme && scheme === 'https', name, port: more.length > 0 ? '' : port }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw refused('it has a malformed escape')
  }
}

function refused(why: string): StatusError {
  return new StatusError('BadRequest', `Cannot pass request to a service: bad path, ${why}`)
}

/** Maps methods to verbs. An unknown method may change anything, so it counts as create. */
const verbOfMethod: Readonly<Record<string, string>> = Object.freeze({
  GET: 'get',
  HEAD: 'get',
  OPTIONS: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
})

/**
 * Returns the attributes for the hub's RBAC: clusters/services of this name. Rights to clusters/proxy do not
 * include it.
 */
export function serviceAttributes(
  method: string,
  { cluster }: Pick<ServiceTarget, 'cluster'>,
): Omit<Attributes, 'user'> {
  return {
    verb: verbOfMethod[method] ?? 'create',
    isResourceRequest: true,
    resource: clusterResource,
    subresource: 'services',
    name: cluster,
    namespace: '',
    path: '',
  }
}
