const dayMs = 86_400_000

/** The lifetimes of certificates we issue, and the tolerated difference between clocks. */
export const certificateLifetimes = Object.freeze({
  authorityMs: 3650 * dayMs,
  leafMs: 365 * dayMs,
  /** Certificates are backdated by this much, for machines whose clocks are behind. */
  skewMs: 5 * 60_000,
  /**
   * The beginning of all authorities, whenever they are created, so that no clock is too early for
   * them. The beginning of a root protects nobody, and a machine without a battery starts at
   * exactly this second.
   */
  authorityNotBeforeMs: 0,
  /** An authority with less than this left is logged, with what to do. */
  authorityLeftMs: 365 * dayMs,
  /** No machine runs this version before this time, so an authority lasts its full lifetime from here on. */
  versionMs: Date.UTC(2026, 10, 1),
})

/** Bounds of certificates and tokens at the start that no caller sets, by the file that keeps them. */
export const bootstrapBounds = Object.freeze({
  certificateHolder: Object.freeze({
    initialMs: 5000,
    maxMs: 600_000,
    factor: 2,
    jitter: 0.5,
    /**
     * How often the certificates' dates are checked; also after the clock was set, e.g. on a machine
     * without a battery.
     */
    lookMs: 60_000,
    /**
     * If the clocks of this machine and the issuer differ, no further certificate is requested before
     * this time.
     */
    againMs: 3_600_000,
  }),
  requestCertificate: Object.freeze({
    initialMs: 200,
    maxMs: 10_000,
    factor: 1.5,
    jitter: 0.3,
  }),
  returnByKey: Object.freeze({
    /** An answer has one certificate. */
    answerBytesMax: 64 * 1024,
  }),
  timeFloor: Object.freeze({
    /** A change of the clock below this is followed at once. */
    agreeMs: 10 * 60_000,
    /** A clock that disagrees for this long, while the machine runs, is trusted. */
    believeMs: 7 * 86_400_000,
    /** A machine may have been off for this long before its clock is suspected to be ahead. */
    offMs: 180 * 86_400_000,
    /** The interval at which the time is saved. */
    saveMs: 3_600_000,
    /** The interval at which the clock is checked; also after it was set. */
    lookMs: 60_000,
  }),
  publishToken: Object.freeze({
    /** Another process may write cluster-info at the same moment. */
    triesMax: 10,
  }),
})
