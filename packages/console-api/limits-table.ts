/** Bounds of the console's server side that no caller sets, by the file that keeps them. */
export const consoleBounds = Object.freeze({
  sessions: Object.freeze({
    lifetimeMs: 12 * 3_600_000,
    /** A session ends this long after its last request. Checks of open streams do not count. */
    idleMs: 30 * 60_000,
    /** How often the last use is written down. A session may end that much earlier than after `idleMs`. */
    touchMs: 60_000,
    perUserMax: 16,
    inAllMax: 4_096,
    codeMs: 10 * 60_000,
    codesPerUserMax: 16,
    codesInAllMax: 1_024,
    sweepMs: 60_000,
  }),
  loginAttempts: Object.freeze({
    /** The failures that one address may have at once, and the time after which it may have one more. */
    perAddressMax: 10,
    perAddressMs: 6_000,
    inAllMax: 200,
    inAllMs: 100,
    addressesMax: 10_000,
  }),
  sessionRoutes: Object.freeze({
    bodyBytesMax: 32_768,
  }),
  issuerLogin: Object.freeze({
    /** The time for a person at the issuer. */
    personMs: 10 * 60_000,
    requestsMs: 20_000,
  }),
})
