const dayMs = 86_400_000

/** How long what we issue is valid, and how far clocks may disagree. */
export const certificateLifetimes = Object.freeze({
  authorityMs: 3650 * dayMs,
  leafMs: 365 * dayMs,
  /** Certificates begin this much in the past, for machines whose clocks are behind. */
  skewMs: 5 * 60_000,
  /**
   * Authorities begin here whenever they are made, so that no clock is too early for them: the beginning
   * of a root protects nobody, and a box without a battery starts at this very second.
   */
  authorityNotBeforeMs: 0,
  /** An authority with less than this left is named in the log, with what to do. */
  authorityLeftMs: 365 * dayMs,
  /** No machine that runs this version runs before this: an authority lasts its full life from here on. */
  versionMs: Date.UTC(2026, 10, 1),
})

export interface ValidityPeriod {
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

/**
 * When to renew: somewhere between 70 and 90 % of the certificate's life, drawn anew for each, so
 * that a thousand nodes of one day do not come back together. `draw` is uniform in [0, 1).
 */
export function renewAtMs({ notBeforeMs, notAfterMs }: ValidityPeriod, draw: number): number {
  return notBeforeMs + (notAfterMs - notBeforeMs) * (0.7 + 0.2 * draw)
}

/** Judged at both ends: a clock that was ahead leaves certificates that have not begun. */
export function isWithin({ notBeforeMs, notAfterMs }: ValidityPeriod, nowMs: number): boolean {
  return notBeforeMs <= nowMs && nowMs < notAfterMs
}

/** Good now, and for a while yet. */
export function isFresh(period: ValidityPeriod, nowMs: number, draw = 0): boolean {
  return isWithin(period, nowMs) && nowMs < renewAtMs(period, draw)
}

/** What an issuer knows of the time. */
export interface IssuerTime {
  /** What the clock says, milliseconds since the Unix epoch. */
  now(): number
  /** What the time should be by what this machine knew before; see time-floor.ts. Default: as the clock says. */
  reckonedMs?(): number
}

/**
 * From when to when a certificate is good that is issued now. Where the clock is not what it should be,
 * the certificate is good by both: whichever is right, nobody is locked out.
 */
export function periodFrom(time: IssuerTime, lifetimeMs: number): ValidityPeriod {
  const nowMs = time.now()
  const reckonedMs = time.reckonedMs?.() ?? nowMs
  return {
    notBeforeMs: Math.min(nowMs, reckonedMs) - certificateLifetimes.skewMs,
    notAfterMs: Math.max(nowMs, reckonedMs) + lifetimeMs,
  }
}
