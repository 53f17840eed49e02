export interface JudgeTarget {
  /** A program that takes etcd's flags. */
  readonly server: string
  /** Further arguments of the judge's own program. */
  readonly more: readonly string[]
}

export interface Verdict {
  readonly passed: number
  /** One line for each failure. */
  readonly failed: readonly string[]
}

export interface Judge {
  readonly title: string
  readonly run: (target: JudgeTarget) => Promise<Verdict>
}
