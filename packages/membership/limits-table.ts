/** The values are Karmada's, except those of the return. */
export const clusterMonitorDefaults = Object.freeze({
  periodMs: 5_000,
  graceMs: 40_000,
  startupGraceMs: 60_000,
  returnGraceMs: 30_000,
  returnPauseMs: 10_000,
  returnGraceMsMax: 300_000,
})

/** The characters shown of each value that an asker sets. */
export const shownCharsMax = 128

/** Bounds of membership that no caller sets, by the file that keeps them. */
export const membershipBounds = Object.freeze({
  agentRevocation: Object.freeze({
    attemptsMax: 10,
  }),
  reEnrolmentRoute: Object.freeze({
    /** A certificate, a request and a signature; each has a few kilobytes. */
    bodyBytesMax: 32 * 1024,
  }),
  registrationToken: Object.freeze({
    /**
     * The time for which the agent can still read that it was rejected, in milliseconds: it asks at least every
     * 13 s.
     */
    lastLookMs: 60_000,
  }),
})
