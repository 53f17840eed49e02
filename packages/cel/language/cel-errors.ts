/** One thing that is wrong with an expression; line and column count from 1 and 0. */
export interface CelIssue {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** The expression is not CEL or does not fit its environment. The message shows every place. */
export class CelCompileError extends Error {
  readonly issues: readonly CelIssue[]
  constructor(message: string, issues: readonly CelIssue[]) {
    super(message)
    this.name = 'CelCompileError'
    this.issues = issues
  }
}

/** `no such overload`: no function of that name takes values of these types. */
export type CelRuntimeReason = 'no such overload' | 'other'

/** The expression cannot be evaluated for these values: `no such key: x`. */
export class CelRuntimeError extends Error {
  /** The evaluation had cost this much when it failed. */
  cost = 0
  readonly reason: CelRuntimeReason
  constructor(message: string, reason: CelRuntimeReason = 'other') {
    super(message)
    this.name = 'CelRuntimeError'
    this.reason = reason
  }
}

/** The evaluation cost more than it may; && and || do not hide it. */
export class CelCostError extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
    this.name = 'CelCostError'
  }
}
