/** One measurement with its peer's. Null if there is no peer, or no goal. */
export interface Figure {
  readonly figure: string
  readonly unit: string
  readonly ours: number
  readonly peer: number | null
  /** Our value divided by the peer's. */
  readonly ratio: number | null
  /** The goal of issue and design: for the ratio if there is a peer, otherwise for our own value. */
  readonly goal: number | null
}

export interface BenchOptions {
  /** The number of times that each subject is measured, in turns with its peer; figures are medians. */
  readonly rounds: number
  readonly isJson: boolean
  /** The directory of upstream's programs as dev/hack/upstream builds them. */
  readonly upstream: string
  /** The peers to measure, if a benchmark has several. */
  readonly only?: readonly string[]
  /** An etcd to compare with. */
  readonly etcdProgram?: string
  /** The loads to measure, if a benchmark has several. */
  readonly loads?: readonly string[]
  /** The numbers of sites to measure. */
  readonly sites?: readonly number[]
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

/** A figure without a peer. */
export function alone(figure: string, unit: string, ours: number, goal: number | null): Figure {
  return { figure, unit, ours: round(ours), peer: null, ratio: null, goal }
}

export interface Pair {
  readonly unit: string
  readonly ours: readonly number[]
  readonly peer: readonly number[]
  readonly goal: number | null
}

export function beside(figure: string, { unit, ours, peer, goal }: Pair): Figure {
  const [own, theirs] = [median(ours), median(peer)]
  const ratio = Math.round((own / theirs) * 100) / 100
  return { figure, unit, ours: round(own), peer: round(theirs), ratio, goal }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
