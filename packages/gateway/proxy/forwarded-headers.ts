import { StatusError } from '@skerry/api'
import type { HeaderFields, UserInfo } from '@skerry/apiserver'
import { connectionFields, namedByConnection } from '@skerry/base'
import { sessionIdKey } from '@skerry/fleet-kinds'
import type { TunnelHeaders } from '@skerry/tunnel'
import { gatewayBounds } from '../limits-table.ts'

/** Headers that end at the hub: credentials, hop-by-hop fields, and fields that the hub itself sets. */
const droppedNames: ReadonlySet<string> = new Set([
  'audit-id',
  'authorization',
  ...connectionFields,
  'expect',
  'forwarded',
  'host',
  'proxy-authenticate',
  'proxy-authorization',
  'trailer',
  'via',
  'x-real-ip',
])
/**
 * Headers that name the user, the source address or the virtual cluster: only the hub may set them.
 * Underscores are included, because some servers read them as dashes.
 */
const droppedPrefix = /^(?::|impersonate[-_]|x[-_]remote[-_]|x[-_]forwarded[-_]|x[-_]skerry[-_])/
const bearerProtocol = 'base64url.bearer.authorization.k8s.io.'
/** The edge itself adds these groups, depending on whether it has authenticated the user. */
const impliedGroups: ReadonlySet<string> = new Set([
  'system:authenticated',
  'system:unauthenticated',
])

export interface ForwardedRequest {
  readonly fields: HeaderFields
  readonly user: UserInfo
  readonly auditId: string
  /** The client's address, as the hub sees it. */
  readonly sourceAddress: string
}

/**
 * Returns the headers for the edge: the client's, without those that could impersonate, and the hub's
 * impersonation headers.
 */
export function forwardedHeaders(request: ForwardedRequest): TunnelHeaders {
  const headers = clientHeaders(request.fields)
  // No API reads cookies. Those that a browser has for this host belong to the hub or to other clusters.
  delete headers['cookie']
  // This server has already checked the origin against its own name, which is not the edge's.
  delete headers['origin']
  return {
    ...headers,
    ...impersonation(request.user),
    'audit-id': request.auditId,
    ...(request.sourceAddress === '' ? {} : { 'x-forwarded-for': request.sourceAddress }),
  }
}

/** Returns those of a client's headers that may be forwarded. Throws BadRequest for two lengths. */
export function clientHeaders(fields: HeaderFields): Record<string, string[]> {
  const named = namedByConnection(valuesOf(fields, 'connection'))
  // The object has no prototype, because a header may be called `constructor`.
  const out: Record<string, string[]> = Object.create(null)
  for (const [rawName, value] of fields) {
    const name = rawName.toLowerCase()
    if (droppedNames.has(name) || droppedPrefix.test(name) || named.has(name)) continue
    const kept = name === 'sec-websocket-protocol' ? withoutToken(value) : value
    const known = out[name]
    if (known) known.push(kept)
    else out[name] = [kept]
  }
  checkLength(out['content-length'])
  return out
}

/**
 * Returns the impersonation headers as client-go writes them: non-ASCII values as bytes of UTF-8, keys of
 * extras escaped.
 */
export function impersonation(user: UserInfo): TunnelHeaders {
  const known = impersonations.get(user)
  if (known) return known
  const made = impersonationOf(user)
  impersonations.set(user, made)
  return made
}

/** A user with a certificate is the same object in each request. */
const impersonations = new WeakMap<UserInfo, TunnelHeaders>()

function impersonationOf(user: UserInfo): TunnelHeaders {
  if (user.name === '') throw new StatusError('Unauthorized', 'Unauthorized')
  const groups = user.groups.filter((group) => !impliedGroups.has(group))
  const headers: Record<string, string | string[]> = { 'impersonate-user': bytesOf(user.name) }
  if (groups.length > 0) headers['impersonate-group'] = groups.map(bytesOf)
  if (user.uid) headers['impersonate-uid'] = bytesOf(user.uid)
  for (const [key, values] of Object.entries(user.extra)) {
    // No edge knows the hub's sessions, and older agents may not impersonate an extra of that name.
    if (key === sessionIdKey) continue
    headers[`impersonate-extra-${escapedKey(key)}`] = values.map(bytesOf)
  }
  return headers
}

function bytesOf(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/^[\x00-\x7f]*$/.test(text)) return text
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** Caches escaped keys: most users have the same few. */
const escapedKeys = new Map<string, string>()
const { escapedKeysMax } = gatewayBounds.forwardedHeaders

function escapedKey(key: string): string {
  const known = escapedKeys.get(key)
  if (known !== undefined) return known
  const escaped = escapeKey(key)
  if (escapedKeys.size >= escapedKeysMax) escapedKeys.clear()
  escapedKeys.set(key, escaped)
  return escaped
}

/** Escapes the characters that a header's name may not contain (RFC 9110, 5.6.2). */
function escapeKey(key: string): string {
  const lower = key.toLowerCase()
  if (/^[!#$&'*+\-.^_`|~0-9a-z]*$/.test(lower)) return lower
  let out = ''
  for (const byte of Buffer.from(lower, 'utf8')) {
    const char = String.fromCharCode(byte)
    out += /[!#$&'*+\-.^_`|~0-9a-z]/.test(char) ? char : `%${byte.toString(16).padStart(2, '0')}`
  }
  return out
}

/** Returns undefined if there is no such header, which is the usual case. */
function valuesOf(fields: HeaderFields, wanted: string): string[] | undefined {
  let values: string[] | undefined
  for (const [name, value] of fields) {
    if (name.length !== wanted.length || name.toLowerCase() !== wanted) continue
    if (values) values.push(value)
    else values = [value]
  }
  return values
}

/** A bearer token may hide among the subprotocols of a WebSocket; it is for the hub alone. */
function withoutToken(protocols: string): string {
  const kept = protocols
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => !protocol.startsWith(bearerProtocol))
  return kept.join(', ')
}

/** Two lengths of one body are how requests are split. */
function checkLength(lengths: readonly string[] | undefined): void {
  if (lengths === undefined) return
  const [length = ''] = lengths
  if (lengths.length === 1 && /^\d{1,15}$/.test(length)) return
  throw new StatusError('BadRequest', 'Cannot pass request to a cluster: bad content-length')
}

/**
 * Checks that the last transfer coding is chunked: hub and client must agree on where the body ends (RFC
 * 9112, 6.1). Throws BadRequest.
 */
export function checkEncoding(fields: HeaderFields): void {
  const codings = valuesOf(fields, 'transfer-encoding')?.flatMap((value) => value.split(','))
  if (codings === undefined || codings.at(-1)?.trim().toLowerCase() === 'chunked') return
  throw new StatusError('BadRequest', 'Cannot pass request to a cluster: bad transfer-encoding')
}

/** Headers that a browser would attribute to the hub's own host, or that concern one hop. */
const droppedAnswers: ReadonlySet<string> = new Set([
  ...connectionFields,
  'accept-ch',
  'alt-svc',
  'audit-id',
  'clear-site-data',
  'content-security-policy-report-only',
  'critical-ch',
  'link',
  'nel',
  'origin-agent-cluster',
  'proxy-authenticate',
  'public-key-pins',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'set-cookie',
  'set-login',
  'speculation-rules',
  'strict-transport-security',
  'trailer',
  'www-authenticate',
])

/** Reports whether an edge may not send this header to a client of the hub. */
export function isDroppedAnswer(name: string): boolean {
  return droppedAnswers.has(name) || name.startsWith('access-control-')
}

type AnsweredHeaders = Record<string, string | readonly string[]>

/** Returns the headers of an edge's answer that switches protocols. */
export function switchedHeaders(headers: TunnelHeaders): AnsweredHeaders {
  const kept: AnsweredHeaders = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    if (!isDroppedAnswer(name)) kept[name] = value
  }
  return kept
}

/** The same of one that a browser may show. */
export function answeredHeaders(headers: TunnelHeaders): AnsweredHeaders {
  return sandboxed(switchedHeaders(headers))
}

/**
 * Gives a page of an edge an origin of its own. Otherwise it could act as its reader at the hub, to which a
 * browser sends the client certificate without asking. Programs ignore the header. The same holds under a
 * cluster's own host name, which is a sibling of the hub's.
 */
const sandbox = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts'

/** Adds headers that give the answer an origin of its own and forbid sniffing its type. */
export function sandboxed(headers: AnsweredHeaders): AnsweredHeaders {
  const { 'content-security-policy': policies = [] } = headers
  const own = typeof policies === 'string' ? [policies] : policies
  headers['content-security-policy'] = [...own, sandbox]
  headers['x-content-type-options'] = 'nosniff'
  return headers
}
