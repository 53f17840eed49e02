import type { Difference } from './compare.ts'

/** A difference that stays, and why. docs/differences.md shows the same list. */
export interface Explanation {
  readonly name: string
  readonly reason: string
  /** Where it is seen; all that are given must match. */
  readonly script?: RegExp
  readonly exchange?: RegExp
  readonly path: RegExp
}

export const explanations: readonly Explanation[] = Object.freeze([
  {
    name: 'Columns of tables have no description',
    reason: 'Facts are taken over from upstream, sentences are not. kubectl does not show them',
    path: /columnDefinitions\.\d+\.description$/,
  },
])

export function explanationOf(difference: Difference): Explanation | undefined {
  return explanations.find(
    ({ script, exchange, path }) =>
      (script?.test(difference.script) ?? true) &&
      (exchange?.test(difference.exchange) ?? true) &&
      path.test(difference.path),
  )
}
