/** The limits of connections to nodes and pods. Streams themselves may be idle for any time. */
export const connectLimits = Object.freeze({
  /** The timeout of TCP and TLS together. */
  dialTimeoutMs: 30_000,
  /** The time from the request to the first byte of its answer. */
  answerHeadTimeoutMs: 60_000,
  /** TCP keep-alive probes start after this much silence. */
  keepAliveMs: 15_000,
  /** The part of a backend's refusal that goes into the message. */
  errorBodyBytesMax: 50_000,
  /** The bytes kept in memory per direction of an upgraded connection. */
  upgradeBufferBytes: 65_536,
  /** The length of a tag in a page that is passed on; a longer one keeps its links. */
  tagBytesMax: 65_536,
})
