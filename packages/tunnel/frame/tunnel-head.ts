import { checkPeerHead, checkPeerSwitch, fieldsOfRaw, PeerAnswerError } from '@skerry/base'
import {
  assertValue,
  assertTarget,
  parseHeaders,
  wireHeaders,
  wireUpgradeHeaders,
} from './tunnel-headers.ts'
import type { TunnelHeaders, TunnelRequest } from './tunnel-message.ts'
import { type TunnelLimits } from '../limits-table.ts'

/**
 * The fixed lines of a request: method, path, host, and the upgrade's protocol or nothing. Names and values
 * follow.
 */
const requestLines = 4
/** The fixed lines of an answer: status, and the protocol if the far side switched. Names and values follow. */
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

/** Throws RangeError if the status of the handler's answer is not a final one. */
export function answerHead(status: number, headers: TunnelHeaders, limits: TunnelLimits): string[] {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new RangeError(`Cannot pass answer: its status ${status} is not one from 200 to 599`)
  }
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
  /** False: nothing follows the head. */
  readonly hasBody: boolean
  /** The far side switched to the protocol that was asked for. */
  readonly isSwitched: boolean
}

/** The request that it answers: its method, and the protocol of an upgrade. */
export interface AnsweredRequest {
  readonly method: string
  readonly protocol: string | undefined
}

/** Throws PeerAnswerError for an answer that must not reach a client; `peer` is who sent it. */
export function parseAnswer(
  lines: readonly string[],
  { method, protocol }: AnsweredRequest,
  peer = 'the agent',
): ParsedAnswer {
  const [first = '', switched = ''] = lines
  if (lines.length % 2 !== 0) throw new PeerAnswerError(peer, 'a header has no value')
  const fields = [...fieldsOfRaw(lines.slice(answerLines))]
  if (switched === '') {
    const status = /^\d{3}$/.test(first) ? Number(first) : undefined
    return { ...checkPeerHead({ status, fields }, { peer, method }), isSwitched: false }
  }
  if (first !== '101' || protocol === undefined) {
    throw new PeerAnswerError(peer, 'it switched protocols without being asked')
  }
  const asked = { peer, offered: protocol }
  const headers = checkPeerSwitch([...fields, ['upgrade', switched]], asked)
  return { status: 101, headers, hasBody: false, isSwitched: true }
}
