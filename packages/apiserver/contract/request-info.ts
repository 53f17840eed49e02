import type { GroupVersionResource } from '@skerry/api'

/** The meaning of a path and method, independent of kinds (upstream's RequestInfo). */
export interface RequestInfo {
  readonly method: string
  /** The decoded path without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Kubernetes' verb for resources; otherwise the lower-case method. */
  readonly verb: string
  /** True if the path names the verb, as `/api/v1/watch/…` does, whatever the method. */
  readonly isVerbInPath: boolean
  /**
   * True if the request cannot be authorized or served: its path has a malformed escape, or a verb
   * and nothing else.
   */
  readonly isUnreadable: boolean
  readonly isResourceRequest: boolean
  /** `api` or `apis`; empty for other paths. */
  readonly prefix: string
  readonly resource: GroupVersionResource
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** The rest of the path after the subresource, still encoded, with its leading slash; or an empty text. */
  readonly restOfPath: string
}

const noResource: GroupVersionResource = Object.freeze({ group: '', version: '', resource: '' })

/** Paths below a namespace that are subresources of the namespace itself, not resources in it. */
const namespaceSubresources = new Set(['status', 'finalize'])

/** Deprecated path segments that replace the method. */
const verbsInPath = new Set(['proxy', 'watch'])

/**
 * Reads a request as upstream does: it decodes the path before splitting it, so an encoded slash is
 * a slash, and an empty segment is a segment. Authorization and handlers must both use this result.
 */
export function parseRequestInfo(method: string, target: string): RequestInfo {
  const [rawPath, queryText] = splitTarget(target)
  const path = decodePath(rawPath)
  const other: RequestInfo = {
    method,
    path: path ?? rawPath,
    query: parseQuery(queryText),
    verb: method.toLowerCase(),
    isVerbInPath: false,
    isUnreadable: path === undefined,
    isResourceRequest: false,
    prefix: '',
    resource: noResource,
    subresource: '',
    namespace: '',
    name: '',
    restOfPath: '',
  }
  if (path === undefined) return other
  const parts = splitPath(path)
  const [prefix = ''] = parts
  if (prefix !== 'api' && prefix !== 'apis') return other
  const headLength = prefix === 'api' ? 2 : 3
  if (parts.length <= headLength) return { ...other, prefix }
  return resourceInfo({ ...other, prefix }, { parts, at: headLength, rawPath })
}

/** Returns the index of the first empty segment inside a path; trailing slashes mean nothing. */
export function gapOf(path: string): number | undefined {
  if (!path.includes('//')) return undefined
  const at = path.replace(/\/+$/, '').split('/').indexOf('', 1)
  return at < 0 ? undefined : at - 1
}

interface Place {
  parts: readonly string[]
  /** The index of the first segment after the version. */
  at: number
  rawPath: string
}

function resourceInfo(base: RequestInfo, place: Place): RequestInfo {
  const { parts } = place
  let { at } = place
  const group = base.prefix === 'api' ? '' : (parts[1] ?? '')
  const version = parts[at - 1] ?? ''
  const first = parts[at] ?? ''
  const isVerbInPath = verbsInPath.has(first)
  if (isVerbInPath) at += 1
  if (at >= parts.length) return { ...base, isVerbInPath, isUnreadable: true }
  let namespace = ''
  if (parts[at] === 'namespaces' && parts.length > at + 1) {
    namespace = parts[at + 1] ?? ''
    if (parts.length > at + 2 && !namespaceSubresources.has(parts[at + 2] ?? '')) at += 2
  }
  const name = parts[at + 1] ?? ''
  const subresource = isVerbInPath && first === 'proxy' ? '' : (parts[at + 2] ?? '')
  return {
    ...base,
    verb: isVerbInPath ? first : resourceVerb(base, name),
    isVerbInPath,
    isResourceRequest: true,
    resource: { group, version, resource: parts[at] ?? '' },
    namespace,
    name,
    subresource,
    restOfPath: parts.length > at + 2 ? restOf(place.rawPath, { from: at + 3, subresource }) : '',
  }
}

/**
 * Returns the rest of the path as received: a proxied server may treat `/a` and `/a/` differently,
 * and its root and an empty path.
 */
function restOf(
  rawPath: string,
  { from, subresource }: { from: number; subresource: string },
): string {
  const end = subresource === 'proxy' && rawPath.endsWith('/') ? '/' : ''
  // Segments end here as they end in the decoded path.
  const separator = /\/|%2f/gi
  let at = /^(?:\/|%2f)*/i.exec(rawPath)?.[0].length ?? 0
  for (let step = 0; step < from; step += 1) {
    separator.lastIndex = at
    if (!separator.test(rawPath)) return end
    at = separator.lastIndex
  }
  const rest = rawPath
    .slice(at)
    .split('/')
    .filter((step) => step !== '')
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

/** Reads a query flag as upstream does: `0` and `false` unset it, anything else sets it. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

function splitTarget(target: string): [string, string] {
  const at = target.indexOf('?')
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}

/** Ignores slashes at both ends. */
function splitPath(path: string): string[] {
  return path.replace(/^\/+/, '').replace(/\/+$/, '').split('/')
}

const malformedEscape = /%(?![0-9a-f]{2})/i

/** Returns undefined if an escape is malformed. Bytes that are not UTF-8 become U+FFFD. */
function decodePath(raw: string): string | undefined {
  if (!raw.includes('%')) return raw
  if (malformedEscape.test(raw)) return undefined
  try {
    return decodeURIComponent(raw)
  } catch {
    // The escapes are well-formed, so the bytes are not UTF-8, which Go accepts.
    const decoded = new URLSearchParams(`p=${raw.replaceAll('+', '%2B').replaceAll('&', '%26')}`)
    return decoded.get('p') ?? raw
  }
}

/** Reads a query as Go does: a pair with a semicolon or a malformed escape is dropped. */
function parseQuery(text: string): URLSearchParams {
  if (!text.includes('%') && !text.includes(';')) return new URLSearchParams(text)
  const pairs = text.split('&').filter((pair) => !pair.includes(';') && !malformedEscape.test(pair))
  return new URLSearchParams(pairs.join('&'))
}
