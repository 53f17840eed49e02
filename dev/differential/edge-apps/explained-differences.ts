import type { StoryDifference } from '../controllers/corpus.ts'
import type { StoryExplanation } from '../controllers/explained-differences.ts'

/** Differences from the originals that stay, and why. docs/differences.md shows the same. */
export const edgeExplanations: readonly StoryExplanation[] = Object.freeze([
  {
    name: 'A node of a NodeGroup has an annotation more',
    reason:
      'It remembers the labels that the group set, so that they alone are taken back; KubeEdge has only its label',
    story: /^kubeedge-/,
    object: /^nodes\//,
    path: /^metadata\.annotations\.edge\.skerry\.io\/set-by-node-group$/,
  },
  {
    name: 'Children have two annotations more',
    reason:
      'They name the group, and the hash by which an edit is told from a change of the template',
    object: /^(?:deployments|statefulsets|services)\//,
    path: /^metadata(?:$|\.annotations(?:$|\.edge\.skerry\.io\/))/,
  },
  {
    name: 'The label with the hash of a template has another value',
    reason:
      'SuperEdge hashes its Go types. ReplicaSets and revisions are named after the template with the label',
    object: /^(?:deployments|statefulsets|statefulsetgrids)\//,
    path: /template-hash-key$|^status\.conditions|(?:current|update)Revision$/,
  },
  {
    name: 'The status of a grid has groups',
    reason: 'SuperEdge shows no state of a group that has no child',
    object: /^(?:deploymentgrids|statefulsetgrids|servicegrids)\//,
    path: /^$|^status(?:$|\.groups|\.observedGeneration)/,
  },
  {
    name: 'A grid is not written',
    reason:
      'SuperEdge writes the hash, the labels of a child and empty fields into it, which a repository of manifests undoes',
    object: /^(?:deploymentgrids|statefulsetgrids|servicegrids)\//,
    path: /^metadata|^spec/,
  },
  {
    name: 'A condition of a ServiceGrid has no time',
    reason: 'The condition goes when the error does',
    object: /^servicegrids\//,
    path: /lastTransitionTime$/,
  },
  {
    name: 'Events name their reporter',
    reason: 'The library of SuperEdge is older than the field',
    object: /^event on /,
    path: /^event$/,
  },
  {
    name: 'A child with a node selector of its own is written once, with the labels of its own group',
    reason:
      'In SuperEdge all children share the template’s map: children get the node selector of others, and are written again',
    story: /^grid-templates$/,
    object: /^deployments\/web-beijing$/,
    path: /revision$|eneration$/,
  },
])

export function explanationOf(difference: StoryDifference): StoryExplanation | undefined {
  return edgeExplanations.find(
    ({ story, object, path }) =>
      (story?.test(difference.story) ?? true) &&
      object.test(difference.object) &&
      (path?.test(difference.path) ?? true),
  )
}
