import type { StoryDifference } from './corpus.ts'

/** A difference that stays, and why. docs/differences.md shows the same list. */
export interface StoryExplanation {
  readonly name: string
  readonly reason: string
  /** The place of the difference; all given patterns must match. */
  readonly story?: RegExp
  readonly object: RegExp
  /** The path of the field within the object; empty if only one side has the object. */
  readonly path?: RegExp
}

export const storyExplanations: readonly StoryExplanation[] = Object.freeze([
  {
    name: 'A DaemonSet follows its nodes at once',
    reason:
      'Upstream does not react when a node goes, or gets a taint that only keeps new pods away',
    story: /^daemonset-nodes$/,
    object: /^(daemonsets\/web|pods\/web-<3>|event on DaemonSet\/web: SuccessfulDelete: .*<3>)$/,
  },
  {
    name: 'A PodDisruptionBudget counts at once when a change of labels removes a pod from it',
    reason: 'Upstream waits until the budget or another of its pods changes',
    story: /^disruption-unmanaged$/,
    object: /^poddisruptionbudgets\/bare$/,
  },
  {
    name: 'A namespace that is being deleted reports the pods that are left',
    reason:
      'Upstream reports that all content is removed until no pod is left, and reports the rest then',
    story: /^namespace-deletion$/,
    object: /^namespaces\//,
    path: /^status\.conditions\./,
  },
])

export function explanationOf(difference: StoryDifference): StoryExplanation | undefined {
  return storyExplanations.find(
    ({ story, object, path }) =>
      (story?.test(difference.story) ?? true) &&
      object.test(difference.object) &&
      (path?.test(difference.path) ?? true),
  )
}
