/** Bounds of calls to webhooks. */
export const webhookLimits = Object.freeze({
  /** An answer; the largest is a patch, or a list of converted objects. */
  answerBytesMax: 64 * 1024 * 1024,
  /** Of a refusal that is no Status, for the message. */
  errorTextMax: 2048,
  /** An answer that is YAML where JSON is meant. */
  yamlCharactersMax: 2_048,
  /** Kept-alive connections to one webhook that nobody uses. */
  idleConnectionsMax: 8,
  idleMs: 90_000,
  /** Webhooks, by address and authority, whose connections are kept. */
  clientsMax: 200,
  /** After answers that say when to ask again, within the time that the call has. */
  retriesMax: 10,
  defaultTimeoutMs: 10_000,
  conversionTimeoutMs: 30_000,
})
