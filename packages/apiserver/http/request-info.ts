import type { GroupVersionResource } from '@skerry/api'

/** What a path and method ask for, before anything is known of kinds (upstream's RequestInfo). */
export interface RequestInfo {
  readonly method: string
  /** Decoded path without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** In Kubernetes' words for resources; the lower-case method otherwise. */
  readonly verb: string
  readonly isResourceRequest: boolean
  /** `api` or `apis`; empty for other paths. */
  readonly prefix: string
  readonly resource: GroupVersionResource
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** What follows the subresource, with its leading slash, still encoded; or empty. */
  readonly restOfPath: string
}

const noResource: GroupVersionResource = Object.freeze({ group: '', version: '', resource: '' })

/** Paths below a namespace that are parts of the namespace itself, not resources in it. */
const namespaceSubresources = new Set(['status', 'finalize'])

export function parseRequestInfo(method: string, target: string): RequestInfo {
  const [rawPath, queryText] = splitTarget(target)
  const query = new URLSearchParams(queryText)
  const rawParts = rawPath.split('/').filter((part) => part !== '')
  const parts = rawParts.map(decodePart)
  const gap = gapOf(rawPath)
  const other: RequestInfo = {
    method,
    path: rawPath.includes('%')
      ? `/${parts.join('/')}${rawPath.endsWith('/') ? '/' : ''}`
      : rawPath,
    query,
    verb: method.toLowerCase(),
    isResourceRequest: false,
    prefix: parts[0] === 'api' || parts[0] === 'apis' ? parts[0] : '',
    resource: noResource,
    subresource: '',
    namespace: '',
    name: '',
    restOfPath: '',
  }
  const headLength = parts[0] === 'api' ? 2 : 3
  if (other.prefix === '' || parts.length <= headLength) return other
  // A gap is a step without a name: nothing is served there, but of a namespace it says that any will do.
  const isAnyNamespace = gap === headLength + 1 && parts[headLength] === 'namespaces'
  const isProxied = gap !== undefined && rawParts.slice(0, gap).includes('proxy')
  if (gap !== undefined && !isAnyNamespace && !isProxied) return other
  const group = parts[0] === 'api' ? '' : (parts[1] ?? '')
  const version = parts[headLength - 1] ?? ''
  const at = isAnyNamespace ? headLength + 1 : headLength
  return resourceInfo(other, { group, version, at, parts, rawParts })
}

/** The index of the first empty step inside of a path; slashes at its end mean nothing. */
export function gapOf(path: string): number | undefined {
  if (!path.includes('//')) return undefined
  const at = path.replace(/\/+$/, '').split('/').indexOf('', 1)
  return at < 0 ? undefined : at - 1
}

interface Place {
  group: string
  version: string
  /** Index of the first part after the version. */
  at: number
  parts: readonly string[]
  rawParts: readonly string[]
}

function resourceInfo(base: RequestInfo, place: Place): RequestInfo {
  const { parts } = place
  let { at } = place
  // The deprecated /api/v1/watch/… prefix.
  const isWatchPath = parts[at] === 'watch' && parts.length > at + 1
  if (isWatchPath) at += 1
  let namespace = ''
  if (parts[at] === 'namespaces' && parts.length > at + 1) {
    namespace = parts[at + 1] ?? ''
    if (parts.length > at + 2 && !namespaceSubresources.has(parts[at + 2] ?? '')) at += 2
  }
  const name = parts[at + 1] ?? ''
  const rest = place.rawParts.slice(at + 3)
  return {
    ...base,
    verb: isWatchPath ? 'watch' : resourceVerb(base, name),
    isResourceRequest: true,
    resource: { group: place.group, version: place.version, resource: parts[at] ?? '' },
    namespace,
    name,
    subresource: parts[at + 2] ?? '',
    restOfPath: restOf(base.path, rest, parts[at + 2]),
  }
}

/** A proxied server may tell `/a` from `/a/`, and its root from nothing. */
function restOf(path: string, rest: readonly string[], subresource: string | undefined): string {
  const end = subresource === 'proxy' && path.endsWith('/') ? '/' : ''
  return rest.length === 0 ? end : `/${rest.join('/')}${end}`
}

function resourceVerb({ method, query }: RequestInfo, name: string): string {
  switch (method) {
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete'
    case 'GET':
    case 'HEAD':
      if (name !== '') return 'get'
      return isTrue(query.get('watch')) ? 'watch' : 'list'
    default:
      return ''
  }
}

/** Go's ParseBool on a query parameter that is present; anything else unknown counts as true, as upstream has it. */
export function isTrue(value: string | null): boolean {
  if (value === null) return false
  return !['0', 'false', 'f', 'F', 'FALSE', 'False'].includes(value)
}

function splitTarget(target: string): [string, string] {
  const at = target.indexOf('?')
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}

function decodePart(part: string): string {
  if (!part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch {
    // Malformed escapes name nothing that exists; the raw text then answers 404.
    return part
  }
}
