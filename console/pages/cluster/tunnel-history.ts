/** The last hour of a cluster's tunnels, as lines of a chart and in words. Pure. */

/** The answer of `/hub/v1/cluster-states/<name>/history`. The last entry of each list is of `until`. */
export interface History {
  /** Seconds. */
  readonly step: number
  readonly until: number
  readonly rtt: readonly (number | null)[]
  /** 1 while connected, 0 while not, null if nobody knows. */
  readonly state: readonly (number | null)[]
  readonly up: readonly (number | null)[]
  readonly down: readonly (number | null)[]
}

export interface ChartSize {
  readonly width: number
  readonly height: number
}

/** Returns the d of an SVG path. A value that is not known interrupts the line; one alone is a dot. */
export function linePath(
  values: readonly (number | null)[],
  max: number,
  { width, height }: ChartSize,
): string {
  const stepX = values.length > 1 ? width / (values.length - 1) : 0
  let isOpen = false
  const parts: string[] = []
  for (const [index, value] of values.entries()) {
    if (value === null) {
      isOpen = false
      continue
    }
    const y = height - (max <= 0 ? 0 : Math.min(1, value / max) * height)
    const point = `${short(index * stepX)} ${short(y)}`
    parts.push(isOpen ? `L${point}` : `M${point}h0`)
    isOpen = true
  }
  return parts.join('')
}

function short(value: number): number {
  return Math.round(value * 10) / 10
}

/** The runs of one state, as shares of the width. */
export interface StateRun {
  readonly state: 'open' | 'away' | 'unknown'
  readonly from: number
  readonly width: number
}

export function stateRuns(states: readonly (number | null)[]): StateRun[] {
  const runs: { state: StateRun['state']; count: number }[] = []
  for (const value of states) {
    const state = value === null ? 'unknown' : value > 0 ? 'open' : 'away'
    const last = runs.at(-1)
    if (last?.state === state) last.count += 1
    else runs.push({ state, count: 1 })
  }
  let at = 0
  return runs.map(({ state, count }) => {
    const run = { state, from: at / states.length, width: count / states.length }
    at += count
    return run
  })
}

export interface HistoryFacts {
  /** The share of the known time in which it was connected, 0 to 1; undefined if nothing is known. */
  readonly connected: number | undefined
  /** How often it became disconnected. */
  readonly breaks: number
  readonly rttMedianMs: number | undefined
  readonly rttMaxMs: number | undefined
  readonly upMax: number
  readonly downMax: number
}

export function historyFacts({ state, rtt, up, down }: History): HistoryFacts {
  const known = state.filter((value) => value !== null)
  const open = known.filter((value) => value > 0).length
  const rtts = rtt.filter((value) => value !== null).toSorted((a, b) => a - b)
  return {
    connected: known.length === 0 ? undefined : open / known.length,
    breaks: known.filter((value, index) => value === 0 && (known[index - 1] ?? 0) > 0).length,
    rttMedianMs: rtts[Math.floor((rtts.length - 1) / 2)],
    rttMaxMs: rtts.at(-1),
    upMax: maxOf(up),
    downMax: maxOf(down),
  }
}

export function maxOf(values: readonly (number | null)[]): number {
  return values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0)
}
