export interface ShapePoint {
  /** The utilization in percent, 0..100, increasing from point to point. */
  readonly utilization: number
  /** 0..10. */
  readonly score: number
}

/** Returns the score 0..100 at this utilization: linear between the points, constant outside them. */
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
