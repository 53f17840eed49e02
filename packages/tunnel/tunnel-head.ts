import {
  assertValue,
  assertTarget,
  BadMessageError,
  parseHeaders,
  wireHeaders,
  wireUpgradeHeaders,
} from './tunnel-headers.ts'
import type { TunnelLimits } from './tunnel-limits.ts'
import type { TunnelHeaders, TunnelRequest } from './tunnel-message.ts'

/** Of a request: method, path, host, protocol of an upgrade or nothing; then names and values. */
const requestLines = 4
/** Of an answer: status, protocol when the far side switched to one; then names and values. */
const answerLines = 2

/**
 * A request's head for the wire. The protocol of an upgrade travels apart: `connection` and `upgrade`
 * concern two neighbours only. Throws BadMessageError.
 */
export function requestHead(
  request: TunnelRequest,
  protocol: string | undefined,
  limits: TunnelLimits,
): string[] {
  const { method, path, headers } = request
  assertTarget(method, path, limits)
  const { host = '' } = headers
  const authority = typeof host === 'string' ? host : ''
  assertValue(authority)
  if (protocol === undefined) {
    return [method, path, authority, '', ...wireHeaders(headers, limits)]
  }
  assertValue(protocol)
  return [method, path, authority, protocol, ...wireUpgradeHeaders(headers, limits)]
}

export interface ParsedRequest {
  readonly request: TunnelRequest
  readonly protocol: string | undefined
}

/** Throws BadMessageError for what must not be passed on. */
export function parseRequest(lines: readonly string[], limits: TunnelLimits): ParsedRequest {
  const [method = '', path = '', host = '', protocol = ''] = lines
  assertTarget(method, path, limits)
  const headers = parseHeaders(lines.slice(requestLines), limits)
  const all = host === '' ? headers : { host, ...headers }
  if (protocol === '') return { request: { method, path, headers: all }, protocol: undefined }
  const upgrading = { ...all, connection: 'Upgrade', upgrade: protocol }
  return { request: { method, path, headers: upgrading }, protocol }
}

export function answerHead(status: number, headers: TunnelHeaders, limits: TunnelLimits): string[] {
  return [String(status), '', ...wireHeaders(headers, limits)]
}

export function switchedHead(
  protocol: string,
  headers: TunnelHeaders,
  limits: TunnelLimits,
): string[] {
  assertValue(protocol)
  return ['101', protocol, ...wireUpgradeHeaders(headers, limits)]
}

export interface ParsedAnswer {
  readonly status: number
  readonly headers: TunnelHeaders
  /** What the far side switched to. */
  readonly switched: string | undefined
}

/** Throws BadMessageError for what is no answer. */
export function parseAnswer(lines: readonly string[], limits: TunnelLimits): ParsedAnswer {
  const [first = '', protocol = ''] = lines
  const status = Number(first)
  const isSwitched = protocol !== ''
  if (!/^[1-9]\d\d$/.test(first) || isSwitched !== (status === 101)) {
    throw new BadMessageError('Cannot pass answer: bad status')
  }
  const headers = parseHeaders(lines.slice(answerLines), limits)
  return { status, headers, switched: isSwitched ? protocol : undefined }
}
