import type { Difference } from './compare.ts'

/** A difference that stays, and why. docs/differences.md shows the same list. */
export interface Explanation {
  readonly name: string
  readonly reason: string
  /** Where it is seen; all that are given must match. */
  readonly script?: RegExp
  readonly exchange?: RegExp
  readonly path: RegExp
  /** Both are texts that are the same up to here. */
  readonly sameUntil?: RegExp
}

export const explanations: readonly Explanation[] = Object.freeze([
  {
    name: 'Columns of tables have no description',
    reason: 'Facts are taken over from upstream, sentences are not. kubectl does not show them',
    path: /columnDefinitions\.\d+\.description$/,
  },
  {
    name: 'IPAddress rows have as many cells as columns',
    reason: 'Upstream adds an age that no column names, so that nobody shows it',
    script: /kind-networking-ipaddresses/,
    path: /rows\.0\.cells\.2$/,
  },
  {
    name: 'The metadata of a DaemonSet is that of the DaemonSet',
    reason:
      'Upstream leaves out the template generation annotation in tables and metadata-only answers, though the object has it',
    script: /^kind-apps-daemonsets$/,
    path: /metadata\.annotations$/,
  },
  {
    name: 'Objects in messages are written as JSON',
    reason:
      'Upstream prints its internal Go structs, or a text diff of two. The message is the same up to there',
    path: /\.message$/,
    sameUntil: /Invalid value: [[{]|\n/,
  },
])

export function explanationOf(difference: Difference): Explanation | undefined {
  return explanations.find(
    ({ script, exchange, path, sameUntil }) =>
      (script?.test(difference.script) ?? true) &&
      (exchange?.test(difference.exchange) ?? true) &&
      path.test(difference.path) &&
      (sameUntil === undefined || isSameUntil(sameUntil, difference)),
  )
}

function isSameUntil(end: RegExp, { upstream, ours }: Difference): boolean {
  if (typeof upstream !== 'string' || typeof ours !== 'string') return false
  const [before] = upstream.split(end)
  return before !== upstream && before === ours.split(end)[0]
}
