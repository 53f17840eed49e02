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

/** A peer's answer cannot be passed on or believed. The message names the peer and the fault. */
export class PeerAnswerError extends Error {
  override name = 'PeerAnswerError'
  readonly peer: string
  /** The fault alone, for those who know the peer by another name. */
  readonly fault: string
  constructor(peer: string, fault: string) {
    super(`Cannot use the answer of ${peer}: ${fault}`)
    this.peer = peer
    this.fault = fault
  }
}

/** What a peer was asked, and what it is called in messages. */
export interface PeerAsked {
  readonly peer: string
  /** The request's method; an answer to HEAD has no body. Default: GET. */
  readonly method?: string | undefined
  /** True: trailers are passed on, and so is their announcement where the body has no length. */
  readonly passesTrailers?: boolean
}

/** The head of a final answer, which any server of ours may write over any version of HTTP. */
export interface PeerHead {
  /** From 200 to 599. */
  readonly status: number
  /** Checked, without what concerns the connection to the peer. */
  readonly headers: HeaderRecord
  /** False: nothing may follow the head, whatever the peer sends. */
  readonly hasBody: boolean
}

export const peerAnswerLimits = Object.freeze({ fieldsMax: 512, fieldBytesMax: 131_072 })

/**
 * Checks a head that came from outside. Throws PeerAnswerError for a status that is not final (RFC 9110, 15), names and
 * values that would split a message, two lengths, and more than peerAnswerLimits.
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
  // RFC 9110, 8.6 and 15.3.6: these have no length. HEAD and 304 name that of the body they leave out.
  if (status === 204 || status === 205) delete headers['content-length']
  const isAnnounced = passesTrailers && hasBody && headers['content-length'] === undefined
  if (!isAnnounced) delete headers['trailer']
  return { status, headers, hasBody }
}

/** The same of an answer that Node's HTTP/1.1 client has read. */
export function peerHeadOf(
  { statusCode, rawHeaders }: Pick<IncomingMessage, 'statusCode' | 'rawHeaders'>,
  asked: PeerAsked,
): PeerHead {
  return checkPeerHead({ status: statusCode, fields: fieldsOfRaw(rawHeaders) }, asked)
}

/**
 * Headers of an answer that switches protocols, with `connection` and `upgrade` made anew. Throws PeerAnswerError where
 * it is none of `offered`, the request's Upgrade header (RFC 9110, 7.8).
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

/** Trailers without what only a head may say (RFC 9110, 6.5.1). Throws PeerAnswerError. */
export function checkPeerTrailers(fields: HeaderLines, peer: string): HeaderRecord {
  const trailers = endToEnd(fields, peer)
  for (const name of headOnly) delete trailers[name]
  return trailers
}

/** A message quotes this much of what a peer said. */
const namedCharsMax = 64

/** They frame or describe the body, or act before it is read. */
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

/** Two of them are two answers: the first counts, as Node's client and browsers have it. */
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

/** Lists that Node's HTTP/2 writes in one line only. */
const joinedFields: ReadonlySet<string> = new Set(['content-encoding', 'content-language'])

function endToEnd(fields: HeaderLines, peer: string): Record<string, string | string[]> {
  const out = collect(fields, peer)
  const named = namedByConnection(listOf(out['connection']))
  checkLength(out, peer)
  for (const name of connectionFields) delete out[name]
  // A length that is said to concern the connection still frames the body.
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
  // Without what every object has: a header may be called `constructor`.
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

/** Two readers must not see two ends of one body (RFC 9112, 6.3). */
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
