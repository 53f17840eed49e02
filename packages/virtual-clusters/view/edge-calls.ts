import { gzip } from 'node:zlib'
import { promisify } from 'node:util'
import { StatusError } from '@skerry/api'
import { readBody, type ClusterClient } from '@skerry/client'
import type { TunnelHeaders, TunnelRequest, TunnelResponse } from '@skerry/tunnel'
import { viewLimits } from '../limits-table.ts'

/** Sends one request to the edge's API server. */
export type Ask = (request: TunnelRequest, signal: AbortSignal) => Promise<TunnelResponse>

/** Asks with the agent's own rights. Keeps only the headers that describe how to answer. */
export function ownAsk(local: ClusterClient): Ask {
  return async ({ method, path, headers, body }, signal) => {
    const kept = ['accept', 'content-type', 'audit-id', 'traceparent', 'tracestate'].flatMap(
      (name): [string, string][] => {
        const value = headers[name]
        if (value === undefined) return []
        return [[name, typeof value === 'string' ? value : value.join(',')]]
      },
    )
    if (method !== 'GET' && method !== 'POST') {
      throw new TypeError(`Cannot ask with the agent's own rights: ${method} changes objects`)
    }
    const sent = body instanceof Uint8Array ? { body } : {}
    return local.raw({ method, path, headers: Object.fromEntries(kept), ...sent }, signal)
  }
}

/** Throws StatusError RequestEntityTooLarge. */
export async function readRequest({ body }: TunnelRequest): Promise<Uint8Array> {
  if (body === undefined) return new Uint8Array()
  if (body instanceof Uint8Array) return body
  const { requestBytesMax } = viewLimits
  try {
    return await readBody(body, requestBytesMax)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const text = `Request entity too large: limit is ${requestBytesMax}`
    throw new StatusError('RequestEntityTooLarge', text)
  }
}

/** The answer about one object; undefined where it is not JSON. Rejects with RangeError where it is too long. */
export async function readJson(answer: TunnelResponse): Promise<unknown> {
  return parsedJson(await readBody(answer.body, viewLimits.objectBytesMax))
}

/** Returns undefined if the bytes are not JSON. */
export function parsedJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Keeps only the JSON clauses of the client's Accept header: answers are rewritten as JSON. */
function jsonAccept({ accept }: TunnelHeaders): string {
  const text =
    accept === undefined || typeof accept === 'string' ? (accept ?? '') : accept.join(',')
  const kept = text.split(',').filter((clause) => /^\s*application\/json\s*(;|$)/i.test(clause))
  return kept.length > 0 ? kept.join(',') : 'application/json'
}

/** Rewrites a request to JSON only, without the headers that do not fit a rewritten body. */
export function jsonRequest(
  request: TunnelRequest,
  changes: { path: string; method?: string; body?: unknown; accept?: string },
): TunnelRequest {
  const { path, method = request.method, body, accept = jsonAccept(request.headers) } = changes
  const {
    'accept-encoding': _encoding,
    'content-length': _length,
    'content-type': type,
    'if-none-match': _match,
    ...headers
  } = request.headers
  if (body === undefined) return { method, path, headers: { ...headers, accept } }
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body))
  const contentType = body instanceof Uint8Array && type !== undefined ? type : 'application/json'
  const described = { 'content-type': contentType, 'content-length': String(bytes.length) }
  return { method, path, headers: { ...headers, accept, ...described }, body: bytes }
}

const compress = promisify(gzip)

/** The answer with another content, compressed where the client takes that and it is long. */
export async function jsonAnswer(
  request: TunnelRequest,
  { status, headers }: Pick<TunnelResponse, 'status' | 'headers'>,
  content: unknown,
): Promise<TunnelResponse> {
  const plain = Buffer.from(`${JSON.stringify(content)}\n`)
  const isLong = plain.length >= viewLimits.compressedBytesMin
  const isCompressed = isLong && /\bgzip\b/i.test(String(request.headers['accept-encoding'] ?? ''))
  const bytes = isCompressed ? await compress(plain, { level: 1 }) : plain
  const { 'content-encoding': _e, 'transfer-encoding': _t, ...kept } = headers
  return {
    status,
    headers: {
      ...kept,
      'content-length': String(bytes.length),
      ...(isCompressed ? { 'content-encoding': 'gzip', vary: 'Accept-Encoding' } : {}),
    },
    body: onePiece(bytes),
  }
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
