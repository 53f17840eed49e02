import type { StoryDifference } from '../controllers/corpus.ts'
import type { StoryExplanation } from '../controllers/explained-differences.ts'

/** Differences from the originals that stay, and why. docs/differences.md shows the same. */
export const edgeExplanations: readonly StoryExplanation[] = Object.freeze([
  {
    name: 'A node in a unit, a group or a pool has an annotation more',
    reason:
      'It remembers the settings that were given to the node, so that they alone are taken back. OpenYurt has one of its own, SuperEdge and KubeEdge have none',
    object: /^nodes\//,
    path: /^metadata\.annotations\.(?:edge\.skerry\.io\/set-by-|nodepool\.openyurt\.io\/previous-attributes$)/,
  },
  {
    name: 'Nodes that leave a unit of labels lose its settings',
    reason: 'In SuperEdge they keep them, also when the unit goes',
    story: /^unit-(?:selector|groups)$/,
    object: /^nodes\/(?:us-\d|ug-3)$/,
    path: /^$|^metadata\.labels$/,
  },
  {
    name: 'A unit is not written',
    reason:
      'SuperEdge writes the labels of the unit and of its groups into setNode, which a repository of manifests undoes',
    object: /^nodeunits\//,
    path: /^metadata\.generation$|^spec(?:$|\.setNode)/,
  },
  {
    name: 'A unit that is not to be a cluster of its own has no unitClusterStatus',
    reason: 'SuperEdge shows an empty one',
    object: /^nodeunits\//,
    path: /^status\.unitClusterStatus$/,
  },
  {
    name: 'Children have two annotations more',
    reason:
      'They name the group, and the hash by which an edit is told from a change of the template',
    object: /^(?:deployments|statefulsets|services|controllerrevisions)\//,
    path: /^metadata(?:$|\.annotations(?:$|\.edge\.skerry\.io\/))/,
  },
  {
    name: 'A child of an EdgeApplication has no copy of its template in an annotation',
    reason: 'Its owner and the hash are enough, so that a child may be as big as an object can be',
    story: /^kubeedge-/,
    object: /^(?:deployments|statefulsets|services)\//,
    path: /^metadata\.annotations\.apps\.kubeedge\.io\/last-applied-template$/,
  },
  {
    name: 'A StatefulSet of an EdgeApplication is available with its pods',
    reason: 'In KubeEdge it is so as soon as it exists',
    story: /^kubeedge-application$/,
    object: /^edgeapplications\//,
    path: /^status\.workloadStatus\.1\.conditions$/,
  },
  {
    name: 'A pull policy that the server chose stays when an override of the image goes',
    reason:
      'Children are applied by the server, which merges containers; KubeEdge replaces all of them, and ReplicaSets are named after them',
    story: /^kubeedge-application$/,
    object: /^deployments\/web-ka-g1$/,
    path: /\.imagePullPolicy$|^status\.conditions\.\d\.message$/,
  },
  {
    name: 'The node selector and the affinity of a template join those of the group',
    reason: 'KubeEdge replaces them. ReplicaSets are named after the template',
    story: /^kubeedge-placement$/,
    object: /^deployments\//,
    path: /^spec\.template\.spec\.(?:nodeSelector|affinity)\.|^status\.conditions\.\d\.message$/,
  },
  {
    name: 'An override of the registry concerns init containers, too',
    reason:
      'A place has one registry; tags and repositories are those of the application, as in KubeEdge',
    story: /^kubeedge-placement$/,
    object: /^deployments\//,
    path: /^spec\.template\.spec\.initContainers\.0\.image$/,
  },
  {
    name: 'The label with the hash of a template has another value',
    reason:
      'SuperEdge hashes its Go types. ReplicaSets and revisions are named after the template with the label',
    story: /^(?:grid-|stateful-set-grid$)/,
    object: /^(?:deployments|statefulsets|statefulsetgrids)\//,
    path: /template-hash-key$|^status\.conditions|(?:current|update)Revision$/,
  },
  {
    name: 'The status of an application has groups',
    reason: 'The originals show no state of a group that has no child',
    object: /^(?:deploymentgrids|statefulsetgrids|servicegrids|edgeapplications|yurtappsets)\//,
    path: /^$|^status(?:$|\.groups|\.observedGeneration)/,
  },
  {
    name: 'An application is not written',
    reason:
      'SuperEdge writes the hash, the labels of a child and empty fields into it, and KubeEdge a list of children, which a repository of manifests undoes',
    object: /^(?:deploymentgrids|statefulsetgrids|servicegrids|edgeapplications)\//,
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
  {
    name: 'A label that a pool sets is put back if a person changes it',
    reason: 'OpenYurt leaves it, and takes it away with the setting',
    story: /^openyurt-pools$/,
    object: /^nodes\/yp-1$/,
    path: /^$/,
  },
  {
    name: 'The history of a YurtAppSet has its template as it was written',
    reason:
      'OpenYurt adds empty fields of its Go types, and its hashes of revisions differ. ReplicaSets are named after the template with the label',
    story: /^openyurt-/,
    object: /^(?:controllerrevisions|deployments)\//,
    path: /^data\..*\.strategy$|^status\.conditions\.\d\.message$/,
  },
  {
    name: 'The workload of a YurtAppSet that was scaled by hand keeps that number when the template changes',
    reason: 'OpenYurt takes it back',
    story: /^openyurt-app-set$/,
    object: /^deployments\//,
    path: /^spec\.replicas$|^status\.\w*[rR]eplicas$/,
  },
  {
    name: 'A change for one pool of a YurtAppSet leaves the pods of the others running',
    reason: 'OpenYurt replaces the pods of all pools',
    story: /^openyurt-tweaks$/,
    object: /^deployments\/web-yt-pa-/,
  },
  {
    name: 'A label that a tweak gave a workload goes with the tweak',
    reason: 'OpenYurt leaves it',
    story: /^openyurt-tweaks$/,
    object: /^deployments\/web-yt-pb-/,
    path: /^metadata\.labels\.tier$/,
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
