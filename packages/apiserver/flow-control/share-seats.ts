/** One priority level that takes part in sharing, in seats. */
export interface SeatClaim {
  readonly nominal: number
  /** The seats that it keeps whatever other levels want. */
  readonly min: number
  readonly max: number
  /** The largest recent demand. */
  readonly demand: number
  /** The demand, smoothed: it falls slowly. */
  readonly smoothDemand: number
}

/**
 * Decides how many seats each level has until the next look: at least its minimum, and what it
 * needs of its own share. Unused seats are lent in proportion to demand (KEP-1040, borrowing).
 */
export function shareSeats(claims: readonly SeatClaim[], total: number): number[] {
  const floors = claims.map(({ min, nominal, demand }) => Math.max(min, Math.min(nominal, demand)))
  const at = (factor: number): number[] =>
    claims.map(({ max, smoothDemand }, index) => {
      const floor = floors[index] ?? 0
      return Math.max(floor, Math.min(max, factor * Math.max(1, smoothDemand)))
    })
  let low = 0
  let high = total
  for (let step = 0; step < 40; step += 1) {
    const middle = (low + high) / 2
    const sum = at(middle).reduce((a, b) => a + b, 0)
    if (sum > total) high = middle
    else low = middle
  }
  return at(low).map((seats) => Math.max(1, Math.round(seats)))
}
