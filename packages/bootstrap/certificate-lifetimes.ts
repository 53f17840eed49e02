import { certificateLifetimes } from './limits-table.ts'

export interface ValidityPeriod {
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

/**
 * Returns when to renew: between 70 and 90 % of the certificate's lifetime. `draw`, uniform in [0,
 * 1), differs for each renewal, so that a thousand nodes of one day do not renew together.
 */
export function renewAtMs({ notBeforeMs, notAfterMs }: ValidityPeriod, draw: number): number {
  return notBeforeMs + (notAfterMs - notBeforeMs) * (0.7 + 0.2 * draw)
}

/** Checks both ends, because a clock that was ahead leaves certificates that are not valid yet. */
export function isWithin({ notBeforeMs, notAfterMs }: ValidityPeriod, nowMs: number): boolean {
  return notBeforeMs <= nowMs && nowMs < notAfterMs
}

/** Returns true if the certificate is valid now, and will be for a while. */
export function isFresh(period: ValidityPeriod, nowMs: number, draw = 0): boolean {
  return isWithin(period, nowMs) && nowMs < renewAtMs(period, draw)
}

/** An issuer's sources of time. */
export interface IssuerTime {
  /** Returns the clock's time, in milliseconds since the Unix epoch. */
  now(): number
  /**
   * Returns the time reckoned from what this machine knew before; see time-floor.ts. Default: the
   * clock's time.
   */
  reckonedMs?(): number
}

/**
 * Returns the validity period of a certificate issued now. If the clock differs from the reckoned
 * time, the certificate is valid by both, so that nobody is locked out whichever is right.
 */
export function periodFrom(time: IssuerTime, lifetimeMs: number): ValidityPeriod {
  const nowMs = time.now()
  const reckonedMs = time.reckonedMs?.() ?? nowMs
  return {
    notBeforeMs: Math.min(nowMs, reckonedMs) - certificateLifetimes.skewMs,
    notAfterMs: Math.max(nowMs, reckonedMs) + lifetimeMs,
  }
}
