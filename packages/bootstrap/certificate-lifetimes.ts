const dayMs = 86_400_000

/** How long what we issue is valid, and how far clocks may disagree. */
export const certificateLifetimes = Object.freeze({
  authorityMs: 3650 * dayMs,
  leafMs: 365 * dayMs,
  /** Certificates begin this much in the past, for machines whose clocks are behind. */
  skewMs: 5 * 60_000,
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
