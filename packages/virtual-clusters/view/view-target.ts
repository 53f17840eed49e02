import { StatusError } from '@skerry/api'
import { parseRequestInfo, type RequestInfo } from '@skerry/apiserver'

/** Paths of the edge's API that are not objects and look the same in every virtual cluster. */
const sharedPaths = [
  /^\/$/,
  /^\/api$/,
  /^\/api\/[^/]+$/,
  /^\/apis$/,
  /^\/apis\/[^/]+(\/[^/]+)?$/,
  /^\/version$/,
  /^\/openapi\/v2$/,
  /^\/openapi\/v3(\/[^/]+)*$/,
  /^\/(healthz|livez|readyz)(\/[a-z0-9-]+)*$/,
  /^\/\.well-known\/openid-configuration$/,
  /^\/openid\/v1\/jwks$/,
]

/** Subresources that answer with a stream of bytes, which holds no object to rewrite. */
const byteSubresources: ReadonlySet<string> = new Set([
  'attach',
  'exec',
  'log',
  'portforward',
  'proxy',
])

/** Parameters whose repeated values all count. Any other parameter has one value. */
const repeatedParameters: ReadonlySet<string> = new Set(['command', 'ports', 'port'])

/**
 * Parses the path of a request for a virtual cluster. Throws StatusError BadRequest for a path that two
 * servers could read differently, and NotFound for the paths on which old clients watched.
 */
export function readViewTarget(method: string, target: string): RequestInfo {
  const [path = '', ...queries] = target.split('?')
  const parts = path.split('/').slice(1)
  const isProxied = parts.includes('proxy')
  for (const [index, part] of parts.entries()) {
    if (part === '' && !(index === parts.length - 1 && (index <= 1 || isProxied))) {
      throw badPath('it has an empty part')
    }
    checkPart(part)
  }
  const tidy = parts.length > 1 && !isProxied ? path.replace(/\/$/, '') : path
  const info = parseRequestInfo(method, [tidy, ...queries].join('?'))
  const steps = info.prefix === 'api' ? 2 : 3
  if (info.isResourceRequest && /^(?:watch|proxy)$/.test(parts[steps] ?? '')) throw notFound()
  return info
}

/** Reports whether this is a part of the edge's API without objects: discovery, OpenAPI, health, version. */
export function isSharedPath({ method, path, isResourceRequest }: RequestInfo): boolean {
  return method === 'GET' && !isResourceRequest && sharedPaths.some((form) => form.test(path))
}

export function isByteSubresource({ subresource }: RequestInfo): boolean {
  return byteSubresources.has(subresource)
}

/** The place to which a request is sent instead. Omitted fields stay as the client sent them. */
export interface MemberPlace {
  readonly namespace?: string
  readonly name?: string
  /** Parameters to add or replace. */
  readonly query?: Readonly<Record<string, string>>
}

/**
 * Returns the path and query at the edge. They are built from the parsed request, so nothing else can be in
 * them.
 */
export function memberTarget(info: RequestInfo, place: MemberPlace = {}): string {
  const { prefix, resource, subresource, restOfPath } = info
  const { namespace = info.namespace, name = info.name } = place
  const isNamespace = resource.resource === 'namespaces' && resource.group === ''
  const parts = [
    prefix,
    ...(prefix === 'apis' ? [resource.group] : []),
    resource.version,
    ...(namespace !== '' && !isNamespace ? ['namespaces', namespace] : []),
    resource.resource,
    ...(name === '' ? [] : [name]),
    ...(subresource === '' ? [] : [subresource]),
  ]
  const path = `/${parts.map(encodeURIComponent).join('/')}${restOfPath}`
  const query = queryOf(info, place.query ?? {})
  return query === '' ? path : `${path}?${query}`
}

function queryOf(info: RequestInfo, more: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of info.query) {
    if (Object.hasOwn(more, name)) continue
    const isRepeated = repeatedParameters.has(name) || info.subresource === 'proxy'
    if (isRepeated || !query.has(name)) query.append(name, value)
  }
  for (const [name, value] of Object.entries(more)) query.set(name, value)
  return query.toString()
}

function checkPart(part: string): void {
  let decoded: string
  try {
    decoded = decodeURIComponent(part)
  } catch {
    throw badPath('it has a malformed escape')
  }
  if (decoded === '.' || decoded === '..') throw badPath('it has a relative part')
  // oxlint-disable-next-line no-control-regex
  if (/[/\\#\x00-\x1f\x7f]/.test(decoded)) {
    throw badPath('it has an encoded slash or control character')
  }
}

function badPath(why: string): StatusError {
  return new StatusError('BadRequest', `Cannot pass request to a virtual cluster: bad path, ${why}`)
}

export function notFound(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource')
}
