import type { Peer } from '../contract/exchange.ts'

/** Reports that bytes over HTTP/1.1 were not a request. The parser has answered, and the connection ends. */
export interface UnreadableRequest {
  readonly peer: Peer
  /** The status of the answer. */
  readonly status: number
  /** The reason, in the parser's words. */
  readonly why: string
}

const statuses: Readonly<Record<string, number>> = Object.freeze({
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
})

/** Returns how Node's parser refused the bytes, or undefined if the connection failed otherwise. */
export function refusalOfParser(error: Error): Omit<UnreadableRequest, 'peer'> | undefined {
  const { code = '', reason = error.message }: Error & { code?: string; reason?: string } = error
  // A connection that ends within a request is not an attempt at anything.
  if (!code.startsWith('HPE_') || code === 'HPE_INVALID_EOF_STATE') return undefined
  return { status: statuses[code] ?? 400, why: reason }
}
