/** Bounds of what extension servers are asked by this server itself. */
export const aggregationLimits = Object.freeze({
  handshakeTimeoutMs: 10_000,
  /** Of one availability check, as upstream's. */
  checkTimeoutMs: 5_000,
  /** Each remote APIService is looked at again after this, whatever happens. */
  checkIntervalMs: 30_000,
  checksAtOnce: 16,
  retryMinMs: 500,
  retryMaxMs: 30_000,
  /** OpenAPI documents are asked for again after this. */
  openApiIntervalMs: 60_000,
  discoveryBytesMax: 4 * 1024 * 1024,
  openApiBytesMax: 16 * 1024 * 1024,
})
