/** The limits of this server's own requests to extension servers. */
export const aggregationLimits = Object.freeze({
  handshakeTimeoutMs: 10_000,
  /** The timeout of one availability check, as upstream. */
  checkTimeoutMs: 5_000,
  /** Each remote APIService is checked again after this time at the latest. */
  checkIntervalMs: 30_000,
  checksAtOnce: 16,
  retryMinMs: 500,
  retryMaxMs: 30_000,
  /** OpenAPI documents are fetched again after this time. */
  openApiIntervalMs: 60_000,
  discoveryBytesMax: 4 * 1024 * 1024,
  openApiBytesMax: 16 * 1024 * 1024,
})
