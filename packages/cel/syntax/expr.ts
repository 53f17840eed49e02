import type { CelValue } from '../language/cel-value.ts'

/** An expression. `at` is the offset in the text of its operator or bracket. */
export type Expr =
  | LiteralExpr
  | IdentExpr
  | SelectExpr
  | CallExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | ComprehensionExpr

export interface LiteralExpr {
  readonly kind: 'literal'
  readonly at: number
  readonly value: CelValue
}

export interface IdentExpr {
  readonly kind: 'ident'
  readonly at: number
  readonly name: string
}

export interface SelectExpr {
  readonly kind: 'select'
  readonly at: number
  readonly operand: Expr
  readonly field: string
  /** True for has(a.b). */
  readonly isTest: boolean
}

export interface CallExpr {
  readonly kind: 'call'
  readonly at: number
  readonly name: string
  readonly target?: Expr | undefined
  readonly args: readonly Expr[]
}

export interface ListExpr {
  readonly kind: 'list'
  readonly at: number
  readonly elements: readonly Expr[]
  /** The indexes of elements written as `?x`. */
  readonly optionals: ReadonlySet<number>
}

export interface MapExpr {
  readonly kind: 'map'
  readonly at: number
  readonly entries: readonly MapEntry[]
}

export interface MapEntry {
  readonly key: Expr
  readonly value: Expr
  readonly isOptional: boolean
}

export interface StructExpr {
  readonly kind: 'struct'
  readonly at: number
  readonly typeName: string
  readonly fields: readonly StructField[]
}

export interface StructField {
  readonly at: number
  readonly name: string
  readonly value: Expr
  readonly isOptional: boolean
}

/** The expansion of macros such as all(): a loop with an accumulator. */
export interface ComprehensionExpr {
  readonly kind: 'comprehension'
  readonly at: number
  readonly range: Expr
  readonly iterVar: string
  /** With two variables, the first is the index or key. */
  readonly iterVar2?: string | undefined
  readonly accuVar: string
  readonly accuInit: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

/** Returns `a.b.c` as a name if the expression is nothing else. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.isTest) return undefined
  const operand = qualifiedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}
