import type { Peer } from '../contract/exchange.ts'

/** What came over HTTP/1.1 was no request: its parser has answered, and the connection ends. */
export interface UnreadableRequest {
  readonly peer: Peer
  /** Of the answer. */
  readonly status: number
  /** What was wrong, in the parser's words. */
  readonly why: string
}

const statuses: Readonly<Record<string, number>> = Object.freeze({
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
})

/** How Node's parser refused it; undefined for a connection that failed otherwise. */
export function refusalOfParser(error: Error): Omit<UnreadableRequest, 'peer'> | undefined {
  const { code = '', reason = error.message }: Error & { code?: string; reason?: string } = error
  // A connection that ends within a request is no attempt at anything.
  if (!code.startsWith('HPE_') || code === 'HPE_INVALID_EOF_STATE') return undefined
  return { status: statuses[code] ?? 400, why: reason }
}
