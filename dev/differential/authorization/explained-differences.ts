import type { Question } from './recording.ts'

/** The answers of two servers to one request. */
export interface Both {
  readonly request: string
  readonly upstream: Outcome
  readonly ours: Outcome
}

export interface Outcome {
  readonly status: number
  readonly questions: readonly Question[]
}

/** A difference that stays, and why; README.md shows the same list. */
export interface Explanation {
  readonly name: string
  readonly reason: string
  readonly matches: (both: Both) => boolean
}

export const explanations: readonly Explanation[] = Object.freeze([
  {
    name: 'A path that ends with the verb in it is not found',
    reason:
      'Upstream answers `/api/v1/watch` with 500 before it knows who asks. Nobody is asked on either side',
    matches: (both) =>
      isSame(both, { upstream: 500, ours: 404 }) && both.ours.questions.length === 0,
  },
  {
    name: 'A log is no session',
    reason: 'Upstream ignores the wish to upgrade a request for a log; here it is refused with 400',
    matches: (both) =>
      /^GET log of a pod .*, (websocket|spdy),/.test(both.request) && isSame(both, { ours: 400 }),
  },
  {
    name: 'A part of an object without a name is not found',
    reason: 'Upstream answers some with 400. Nothing is served on either side',
    matches: (both) => isSame(both, { upstream: 400, ours: 404 }),
  },
  {
    name: 'Custom objects are watched with GET alone',
    reason:
      'Upstream opens a watch of custom objects for any method below `/watch/`; of built-in objects it does not',
    matches: (both) =>
      both.request.includes('/watch/') && isSame(both, { upstream: 200, ours: 405 }),
  },
])

/** Both were asked the same, and answered so. */
function isSame(
  { upstream, ours }: Both,
  statuses: { readonly upstream?: number; readonly ours: number },
): boolean {
  return (
    ours.status === statuses.ours &&
    upstream.status === (statuses.upstream ?? upstream.status) &&
    JSON.stringify(upstream.questions) === JSON.stringify(ours.questions)
  )
}

export function explanationOf(both: Both): Explanation | undefined {
  return explanations.find(({ matches }) => matches(both))
}
