import type { IncomingHttpHeaders } from 'node:http2'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiAnswer } from '../contract/exchange.ts'

/** Trailers come only after pieces (RFC 9112, 7.1.2): not to HTTP/1.0, nor after HEAD. */
export function announced(
  { headers }: ApiAnswer,
  { req }: ServerResponse,
): Record<string, string | string[]> {
  const out = mutable(headers)
  if (req.httpVersion === '1.0' || req.method === 'HEAD' || 'content-length' in out) {
    delete out['trailer']
  }
  return out
}

export function mutable(headers: ApiAnswer['headers']): Record<string, string | string[]> {
  // Without what every object has: a header may be called `__proto__`.
  const out: Record<string, string | string[]> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    out[name] = typeof value === 'string' ? value : [...value]
  }
  return out
}

/** Name, value, name, value, … */
export function pairs(raw: readonly unknown[]): [string, string][] {
  const out: [string, string][] = []
  for (let at = 0; at + 1 < raw.length; at += 2) out.push([String(raw[at]), String(raw[at + 1])])
  return out
}

export function http1Headers(request: IncomingMessage): Record<string, string> {
  return joined(request.headersDistinct)
}

export function http2Headers(headers: IncomingHttpHeaders): Record<string, string> {
  const host = headers[':authority']
  return { ...(host === undefined ? {} : { host }), ...joined(headers) }
}

function joined(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, string> {
  const out: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || name.startsWith(':')) continue
    out[name] = typeof value === 'string' ? value : value.join(',')
  }
  return out
}
