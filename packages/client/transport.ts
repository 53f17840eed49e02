/**
 * The API transport seam: one request, one answer, whose body may never end (watch, logs).
 * Implementations: HTTPS to any cluster (https-transport.ts), and the apiserver's own handler,
 * called directly if both are in one process.
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
  /** Ends when the server ends the body. Throws the signal's reason if aborted. */
  body: AsyncIterable<Uint8Array>
}

export interface Transport {
  /** Rejects if no answer came (connection refused, cut, aborted). Resolves for any status. */
  send(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse>
}
