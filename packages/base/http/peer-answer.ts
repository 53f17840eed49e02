import type { IncomingMessage } from 'node:http'
import {
  connectionFields,
  isFieldName,
  isFieldValue,
  namedByConnection,
  fieldsOfRaw,
  type HeaderLines,
  type HeaderRecord,
} from './header-fields.ts'
import { baseBounds, peerAnswerLimits } from '../limits-table.ts'

/** Reports that a peer's answer cannot be passed on or trusted. The message names the peer and the fault. */
export class PeerAnswerError extends Error {
  override name = 'PeerAnswerError'
  readonly peer: string
  /** The fault alone, for callers that know the peer by another name. */
  readonly fault: string
  constructor(peer: string, fault: string) {
    super(`Cannot use the answer of ${peer}: ${fault}`)
    this.peer = peer
    this.fault = fault
  }
}

/** The peer's name for messages, and the properties of the request to it. */
export interface PeerAsked {
  readonly peer: string
  /** The request's method. An answer to HEAD has no body. Default: GET. */
  readonly method?: string | undefined
  /** If true, trailers are passed on, and so is their announcement if the body has no length. */
  readonly passesTrailers?: boolean
}

/** The head of a final answer that our servers may write over any version of HTTP. */
export interface PeerHead {
  /** The status, from 200 to 599. */
  readonly status: number
  /** Checked headers, without those that concern the connection to the peer. */
  readonly headers: HeaderRecord
  /** False if nothing may follow the head, whatever the peer sends. */
  readonly hasBody: boolean
}

/**
 * Checks a head from outside. Throws PeerAnswerError for a status that is not final (RFC 9110,
 * section 15), for names and values that would split a message, for two lengths, and for more than
 * peerAnswerLimits.
 */
export function checkPeerHead(
  { status, fields }: { status: number | undefined; fields: HeaderLines },
  { peer, method = 'GET', passesTrailers = false }: PeerAsked,
): PeerHead {
  if (status === undefined || !Number.isInteger(status) || status < 200 || status > 599) {
    throw new PeerAnswerError(
      peer,
      `its status ${status ?? 'is missing'} is not one from 200 to 599`,
    )
  }
  const headers = endToEnd(fields, peer)
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 205 && status !== 304
  // RFC 9110, sections 8.6 and 15.3.6: these have no length. HEAD and 304 have the length of the
  // body they omit.
  if (status === 204 || status === 205) delete headers['content-length']
  const isAnnounced = passesTrailers && hasBody && headers['content-length'] === undefined
  if (!isAnnounced) delete headers['trailer']
  return { status, headers, hasBody }
}

/** Does the same for an answer that Node's HTTP/1.1 client has read. */
export function peerHeadOf(
  { statusCode, rawHeaders }: Pick<IncomingMessage, 'statusCode' | 'rawHeaders'>,
  asked: PeerAsked,
): PeerHead {
  return checkPeerHead({ status: statusCode, fields: fieldsOfRaw(rawHeaders) }, asked)
}

/**
 * Returns the headers of an answer that switches protocols, with new `connection` and `upgrade`
 * headers. Throws PeerAnswerError if the protocol is none of `offered`, the request's Upgrade
 * header (RFC 9110, section 7.8).
 */
export function checkPeerSwitch(
  fields: HeaderLines,
  { peer, offered }: { peer: string; offered: string },
): HeaderRecord {
  const all = [...fields]
  const upgrades = all
    .filter(([name]) => name.toLowerCase() === 'upgrade')
    .map(([, value]) => value)
  const [protocol = ''] = upgrades
  const asked = offered.split(',').map((each) => each.trim().toLowerCase())
  if (upgrades.length !== 1 || protocol === '' || !asked.includes(protocol.toLowerCase())) {
    const named = JSON.stringify(upgrades.join(', ').slice(0, namedCharsMax))
    throw new PeerAnswerError(peer, `it switched to the protocol ${named} and not to ${offered}`)
  }
  const headers = endToEnd(all, peer)
  delete headers['content-length']
  delete headers['trailer']
  headers['connection'] = 'Upgrade'
  headers['upgrade'] = protocol
  return headers
}

/**
 * Returns the trailers without fields that only a head may have (RFC 9110, section 6.5.1). Throws
 * PeerAnswerError.
 */
export function checkPeerTrailers(fields: HeaderLines, peer: string): HeaderRecord {
  const trailers = endToEnd(fields, peer)
  for (const name of headOnly) delete trailers[name]
  return trailers
}

const { namedCharsMax } = baseBounds.peerAnswer

/** Fields that frame or describe the body, or act before it is read. */
const headOnly = [
  'cache-control',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'host',
  'location',
  'set-cookie',
  'trailer',
  'www-authenticate',
] as const

/** Fields that may occur only once: the first counts, as in Node's client and browsers. */
const singleFields: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-max-age',
  'access-control-request-method',
  'age',
  'authorization',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'dnt',
  'etag',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'range',
  'referer',
  'retry-after',
  'tk',
  'upgrade-insecure-requests',
  'user-agent',
  'x-content-type-options',
])

/** List fields that Node's HTTP/2 can only write in one line. */
const joinedFields: ReadonlySet<string> = new Set(['content-encoding', 'content-language'])

function endToEnd(fields: HeaderLines, peer: string): Record<string, string | string[]> {
  const out = collect(fields, peer)
  const named = namedByConnection(listOf(out['connection']))
  checkLength(out, peer)
  for (const name of connectionFields) delete out[name]
  // A length that is listed as a connection header still frames the body.
  for (const name of named) if (name !== 'content-length') delete out[name]
  for (const name in out) {
    const value = out[name]
    if (typeof value === 'object' && singleFields.has(name)) out[name] = value[0] ?? ''
    else if (typeof value === 'object' && joinedFields.has(name)) out[name] = value.join(', ')
  }
  return out
}

function collect(fields: HeaderLines, peer: string): Record<string, string | string[]> {
  const { fieldsMax, fieldBytesMax } = peerAnswerLimits
  // The object has no prototype, because a header may be named `constructor`.
  const out: Record<string, string | string[]> = Object.create(null)
  let count = 0
  let bytes = 0
  for (const [rawName, value] of fields) {
    count += 1
    bytes += rawName.length + value.length
    if (count > fieldsMax || bytes > fieldBytesMax) {
      const most = `${fieldsMax} headers of ${fieldBytesMax} bytes`
      throw new PeerAnswerError(peer, `it has more than ${most}`)
    }
    if (!isFieldName(rawName)) throw new PeerAnswerError(peer, 'bad header name')
    const name = rawName.toLowerCase()
    if (!isFieldValue(value)) throw new PeerAnswerError(peer, `bad value of header ${name}`)
    const known = out[name]
    if (known === undefined) out[name] = value
    else if (typeof known === 'string') out[name] = [known, value]
    else known.push(value)
  }
  return out
}

/** Two readers must not see two ends of one body (RFC 9112, section 6.3). */
function checkLength(headers: Record<string, string | string[]>, peer: string): void {
  const lengths = listOf(headers['content-length'])
  if (lengths === undefined) return
  const [length = ''] = lengths
  if (lengths.some((each) => each !== length) || !/^\d{1,15}$/.test(length)) {
    throw new PeerAnswerError(peer, 'bad content-length')
  }
  if (headers['transfer-encoding'] !== undefined) {
    throw new PeerAnswerError(peer, 'its body has a length and comes in pieces')
  }
  headers['content-length'] = length
}

function listOf(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value
}
