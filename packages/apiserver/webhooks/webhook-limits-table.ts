/** The limits of calls to webhooks. */
export const webhookLimits = Object.freeze({
  /** The size of an answer; the largest is a patch, or a list of converted objects. */
  answerBytesMax: 64 * 1024 * 1024,
  /** The part of a refusal other than a Status that goes into the message. */
  errorTextMax: 2048,
  /** The length of an answer in YAML in place of JSON. */
  yamlCharactersMax: 2_048,
  /** The number of unused kept-alive connections to one webhook. */
  idleConnectionsMax: 8,
  idleMs: 90_000,
  /** The number of webhooks, by address and authority, whose connections are kept. */
  clientsMax: 200,
  /** The number of retries after answers with a Retry-After, within the call's timeout. */
  retriesMax: 10,
  defaultTimeoutMs: 10_000,
  conversionTimeoutMs: 30_000,
})
