import type { IncomingHttpHeaders } from 'node:http2'
import type { IncomingMessage } from 'node:http'

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
