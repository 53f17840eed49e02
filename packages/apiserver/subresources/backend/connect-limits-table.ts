/** Bounds of connections to nodes and pods. Streams themselves may be idle for as long as they like. */
export const connectLimits = Object.freeze({
  /** TCP and TLS together. */
  dialTimeoutMs: 30_000,
  /** From the request to the first byte of its answer. */
  answerHeadTimeoutMs: 60_000,
  /** TCP keep-alive probes start after this much silence. */
  keepAliveMs: 15_000,
  /** Of a backend's refusal, for the message. */
  errorBodyBytesMax: 50_000,
  /** Kept in memory per direction of an upgraded connection. */
  upgradeBufferBytes: 65_536,
  /** A tag of a page that is passed on; a longer one keeps its links. */
  tagBytesMax: 65_536,
})
