export interface ShapePoint {
  /** Percent, 0..100; rising from point to point. */
  readonly utilization: number
  /** 0..10. */
  readonly score: number
}

/** The score 0..100 at this utilization: straight lines between the points, level outside them. */
export function shapeValue(shape: readonly ShapePoint[], utilization: number): number {
  const [first] = shape
  if (first === undefined) return 0
  let before = first
  for (const point of shape) {
    if (utilization <= point.utilization) {
      const span = point.utilization - before.utilization
      const rise = (point.score - before.score) * 10
      if (span === 0) return point.score * 10
      return before.score * 10 + Math.trunc((rise * (utilization - before.utilization)) / span)
    }
    before = point
  }
  return before.score * 10
}
