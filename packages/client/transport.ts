/**
 * The API transport seam: one request, one answer, whose body may never end (watch, logs).
 * Implementations: HTTPS to any cluster (https-transport.ts), and the apiserver's own handler
 * called directly when both live in one process.
 */
export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path with the query, already encoded, e.g. /api/v1/pods?watch=1. */
  path: string
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>
  body?: Uint8Array
  /** True if the request may be sent twice without further effect. Default: true for GET only. */
  isRepeatable?: boolean
}

export interface TransportResponse {
  status: number
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>
  /** Ends when the server ends the body; throws the signal's reason when aborted. */
  body: AsyncIterable<Uint8Array>
}

export interface Transport {
  /** Rejects when no answer came (connection refused, cut, aborted). Any status resolves. */
  send(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse>
}
