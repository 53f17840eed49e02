import type { NamedExpression } from '@skerry/kinds'
import { Activation, BudgetError, type ActivationInput } from './activation.ts'
import { policyLimits } from '../limits-table.ts'

/** Reports a refusal: conditions failed, and the failure policy does not ignore that. */
export type MatchResult =
  | { readonly type: 'match' }
  | { readonly type: 'no-match' }
  | { readonly type: 'refused'; readonly message: string }

/** A single false condition means no match; failures count only if none is false. */
export function matchConditions(
  conditions: readonly NamedExpression[],
  input: ActivationInput,
  isFailureIgnored: boolean,
): MatchResult {
  const failures: string[] = []
  const failed = (): MatchResult => {
    if (failures.length === 0) return { type: 'match' }
    if (isFailureIgnored) return { type: 'no-match' }
    const [only] = failures
    const message = failures.length === 1 ? (only ?? '') : `[${failures.join(', ')}]`
    return { type: 'refused', message }
  }
  try {
    const activation = new Activation(input, policyLimits.conditionsCostMax)
    // A later false decides, even if an earlier condition failed.
    const results = conditions.map(({ compiled }) => activation.evaluate(compiled))
    for (const result of results) {
      if (result.type === 'error') failures.push(result.message)
      else if (result.value === false) return { type: 'no-match' }
    }
    return failed()
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error
    failures.push(error.message)
    return failed()
  }
}
