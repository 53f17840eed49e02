/** One error in an expression. Lines count from 1, columns from 0. */
export interface CelIssue {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** Reports that the text is not valid CEL or does not fit its environment. The message shows every place. */
export class CelCompileError extends Error {
  readonly issues: readonly CelIssue[]
  constructor(message: string, issues: readonly CelIssue[]) {
    super(message)
    this.name = 'CelCompileError'
    this.issues = issues
  }
}

/** `no such overload` means that no function of that name takes values of these types. */
export type CelRuntimeReason = 'no such overload' | 'other'

/** Reports that the expression cannot be evaluated for these values: `no such key: x`. */
export class CelRuntimeError extends Error {
  /** The cost of the evaluation until it failed. */
  cost = 0
  readonly reason: CelRuntimeReason
  constructor(message: string, reason: CelRuntimeReason = 'other') {
    super(message)
    this.name = 'CelRuntimeError'
    this.reason = reason
  }
}

/** Reports that the evaluation exceeded its cost limit; && and || do not hide it. */
export class CelCostError extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
    this.name = 'CelCostError'
  }
}
