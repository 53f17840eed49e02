import { connectionFields, isFieldValue, namedByConnection } from '@skerry/base'
import type { TunnelHeaders } from './tunnel-message.ts'
import { type TunnelLimits } from '../limits-table.ts'

/** Headers that have a meaning between two neighbours only (RFC 9110, 7.6.1), or are sent separately. */
const hopByHop: ReadonlySet<string> = new Set([
  ...[...connectionFields].filter((name) => name !== 'te'),
  'proxy-authenticate',
  'proxy-authorization',
  'host',
])

/** The wire's own: lower case. */
const nameShape = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
const pathShape = /^\/[\x21-\x7e]*$/
const methodShape = /^[A-Z]{1,32}$/

/** A message that must not be forwarded; `status` is the answer for its sender. */
export class BadMessageError extends RangeError {
  override name = 'BadMessageError'
  readonly status: 400 | 414 | 431
  constructor(message: string, status: 400 | 414 | 431 = 400) {
    super(message)
    this.status = status
  }
}

type HeaderLimits = Pick<TunnelLimits, 'headerBytesMax' | 'headersMax' | 'pathBytesMax'>

/** Returns checked name and value pairs for the wire, without hop-by-hop headers. */
export function wireHeaders(headers: TunnelHeaders, limits: HeaderLimits): string[] {
  const named = connectionNamed(headers)
  const flat: string[] = []
  for (const [rawName, value] of Object.entries(headers)) {
    const name = rawName.toLowerCase()
    if (hopByHop.has(name) || named.has(name)) continue
    // RFC 9113, 8.2.2 allows only this value of TE.
    if (name === 'te' && value !== 'trailers') continue
    for (const one of typeof value === 'string' ? [value] : value) flat.push(name, one)
  }
  assertHeaders(flat, limits)
  return flat
}

/**
 * Does the same for a message whose stream becomes a byte stream: clients send `content-length: 0` with a
 * POST that upgrades, and bytes follow.
 */
export function wireUpgradeHeaders(headers: TunnelHeaders, limits: HeaderLimits): string[] {
  const kept = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-length')
  return wireHeaders(Object.fromEntries(kept), limits)
}

/** Parses the wire's flat list; what the other end sent is checked like our own. */
export function parseHeaders(flat: readonly string[], limits: HeaderLimits): TunnelHeaders {
  assertHeaders(flat, limits)
  const headers: Record<string, string | string[]> = Object.create(null)
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const [name = '', value = ''] = [flat[index], flat[index + 1]]
    const known = headers[name]
    if (known === undefined) headers[name] = value
    else if (typeof known === 'string') headers[name] = [known, value]
    else known.push(value)
  }
  return headers
}

export function assertTarget(method: string, path: string, limits: HeaderLimits): void {
  if (!methodShape.test(method)) throw new BadMessageError('Cannot pass request: bad method')
  if (path.length > limits.pathBytesMax) {
    const text = `Cannot pass request: its path is longer than ${limits.pathBytesMax} bytes`
    throw new BadMessageError(text, 414)
  }
  if (!pathShape.test(path)) throw new BadMessageError('Cannot pass request: bad path')
}

/** A host or the name of a protocol. */
export function assertValue(value: string): void {
  if (!isFieldValue(value)) throw new BadMessageError('Cannot pass request: bad host or protocol')
}

function assertHeaders(flat: readonly string[], limits: HeaderLimits): void {
  let bytes = 0
  if (flat.length % 2 !== 0) throw new BadMessageError('Cannot pass headers: a name has no value')
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const [name = '', value = ''] = [flat[index], flat[index + 1]]
    bytes += name.length + value.length
    if (!nameShape.test(name)) throw new BadMessageError('Cannot pass headers: bad name')
    if (!isFieldValue(value)) {
      throw new BadMessageError(`Cannot pass headers: bad value of ${name}`)
    }
  }
  if (bytes > limits.headerBytesMax || flat.length > 2 * limits.headersMax) {
    const most = `${limits.headersMax} headers of ${limits.headerBytesMax} bytes`
    throw new BadMessageError(`Cannot pass headers: more than ${most}`, 431)
  }
}

function connectionNamed(headers: TunnelHeaders): ReadonlySet<string> {
  let values: string[] | undefined
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === 'connection') values = [...(values ?? []), String(value)]
  }
  return namedByConnection(values)
}
