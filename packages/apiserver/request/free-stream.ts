import { StatusError } from '@skerry/api'
import type { ApiRequest } from '../contract/exchange.ts'
import type { ApiServerLimits } from '../limits-table.ts'

/**
 * Refuses a browser's request that may last if its connection has almost no stream left. A browser opens one HTTP/2
 * connection to a server for all its tabs, and holds requests beyond the connection's limit back without an error, so
 * the next page would wait for ever. Other programs open another connection at the limit, and are not refused. Throws
 * StatusError TooManyRequests.
 */
export function requireFreeStream(
  { streams = 0, headers }: Pick<ApiRequest, 'streams' | 'headers'>,
  { browserStreamsMax }: Pick<ApiServerLimits, 'browserStreamsMax'>,
): void {
  // Browsers send it over TLS, and pages cannot set it (Fetch Metadata Request Headers, 2.2).
  if (streams <= browserStreamsMax || headers['sec-fetch-mode'] === undefined) return
  const text = `Cannot begin a request that may last: ${browserStreamsMax} requests are open on this connection, which is the limit for a browser; close watches, logs or tabs`
  throw new StatusError('TooManyRequests', text, { details: { retryAfterSeconds: 1 } })
}
