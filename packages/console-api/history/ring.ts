import { consoleBounds } from '../limits-table.ts'

/** One step of a cluster's tunnels. NaN stands for an unknown value. */
export interface RingPoint {
  readonly state: number
  readonly rttMs: number
  readonly up: number
  readonly down: number
}

const { pointsMax } = consoleBounds.tunnelHistory
const columns = 4

/** The last points by their steps, in 5,760 bytes. Steps without a point are not known. */
export class Ring {
  readonly #values = new Float32Array(pointsMax * columns).fill(Number.NaN)
  #last: number | undefined

  /** Replaces the point of the same step. A step before the last one is left out. */
  put(step: number, { state, rttMs, up, down }: RingPoint): void {
    const last = this.#last ?? step
    if (step < last) return
    this.#forget(last + 1, step)
    this.#last = step
    this.#values.set([state, rttMs, up, down], offsetOf(step))
  }

  /** Returns the points up to this step, the oldest first. */
  last(step: number): RingPoint[] {
    this.#forget((this.#last ?? step) + 1, step)
    return Array.from({ length: pointsMax }, (_, at) => {
      const offset = offsetOf(step - pointsMax + 1 + at)
      const [state, rttMs, up, down] = this.#values.subarray(offset, offset + columns)
      const unknown = Number.NaN
      return {
        state: state ?? unknown,
        rttMs: rttMs ?? unknown,
        up: up ?? unknown,
        down: down ?? unknown,
      }
    })
  }

  /** Makes these steps unknown, whose places may still hold points of an hour before. */
  #forget(from: number, to: number): void {
    for (let step = Math.max(from, to - pointsMax + 1); step <= to; step += 1) {
      const offset = offsetOf(step)
      this.#values.fill(Number.NaN, offset, offset + columns)
    }
  }
}

function offsetOf(step: number): number {
  return (((step % pointsMax) + pointsMax) % pointsMax) * columns
}
