import { CelRuntimeError } from './language/cel-errors.ts'
import type { Checked } from './check/checker.ts'
import { formatProblem } from './check/format-check.ts'
import { patternOf } from './functions/texts.ts'
import type { Expr } from './syntax/expr.ts'
import { compileError, type Problem } from './syntax/source.ts'
import { parseDuration, parseTimestamp } from './values/time-text.ts'

const checks: Readonly<
  Record<string, { at: number; what: string; parse: (text: string) => unknown }>
> = Object.freeze({
  duration: { at: 0, what: 'duration', parse: parseDuration },
  timestamp: { at: 0, what: 'timestamp', parse: parseTimestamp },
  matches: { at: -1, what: 'matches', parse: patternOf },
})

/** Refuses literals that no call can accept. Throws CelCompileError. */
export function checkLiterals(text: string, { overloads, types, mixed }: Checked): void {
  const problems: Problem[] = [...mixed]
  for (const expr of overloads.keys()) {
    const problem = problemOf(expr) ?? formatProblemOf(expr, types)
    if (problem) problems.push(problem)
  }
  if (problems.length > 0) throw compileError(text, problems)
}

function formatProblemOf(expr: Expr, types: Checked['types']): Problem | undefined {
  return expr.kind === 'call' ? formatProblem(expr, (each) => types.get(each)) : undefined
}

function problemOf(expr: Expr): Problem | undefined {
  if (expr.kind !== 'call') return undefined
  const check = Object.hasOwn(checks, expr.name) ? checks[expr.name] : undefined
  const arg = check && expr.args.at(check.at)
  if (!check || arg?.kind !== 'literal' || typeof arg.value !== 'string') return undefined
  try {
    check.parse(arg.value)
    return undefined
  } catch (error) {
    if (!(error instanceof CelRuntimeError)) throw error
    return { at: arg.at, message: `invalid ${check.what} argument` }
  }
}
