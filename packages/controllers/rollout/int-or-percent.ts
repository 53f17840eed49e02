import type { IntOrString } from '@skerry/api'

export interface Scaling {
  /** The number that 100% stands for. */
  total: number
  rounding: 'up' | 'down'
}

/** Returns `3` or `"25%"` as a count. Anything else, which validation prevents, counts as 0. */
export function scaledCount(value: IntOrString | undefined, { total, rounding }: Scaling): number {
  if (value === undefined) return 0
  if (typeof value === 'number') return value
  const percent = /^([0-9]+)%$/.exec(value)?.[1]
  if (percent === undefined) return 0
  const share = (Number(percent) * total) / 100
  return rounding === 'up' ? Math.ceil(share) : Math.floor(share)
}
