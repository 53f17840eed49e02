import type { GroupResource, JsonObject } from '@skerry/api'
import type { RequestInfo } from '@skerry/apiserver'
import { sharersOf } from '@skerry/cluster-agent'
import { textAt, textsAt, groupLabel, virtualNamespaceLabels } from '@skerry/fleet-kinds'
import type { Asked, View } from './asked-view.ts'
import type { SeenAs } from './seen-kinds-table.ts'
import { shownOwnName } from './shown-object.ts'

type Judge = (object: JsonObject, view: View) => boolean

/** Decide whether an object without a namespace is shown. */
const judges: Readonly<Record<SeenAs, Judge>> = Object.freeze({
  shared: () => true,
  own: (object, { group }) => {
    const name = textAt(object, 'metadata', 'name')
    const isSent = labelsOf(object)[virtualNamespaceLabels.cluster] === group.clusterName
    return isSent && shownOwnName(name, { ...group, namespace: () => undefined }) !== name
  },
  nodes: (node, { group }) => labelsOf(node)[groupLabel] === group.clusterName,
  'named-as-nodes': (object, { group, edge }) =>
    edge.isNodeOf(group.clusterName, textAt(object, 'metadata', 'name')),
  claimed: (volume, { group, edge }) =>
    edge.ownerOf(textAt(volume, 'spec', 'claimRef', 'namespace'))?.cluster === group.clusterName,
  namespaces: (namespace, { group }) =>
    labelsOf(namespace)[virtualNamespaceLabels.cluster] === group.clusterName,
  review: () => true,
  sent: (object, { group }) => isSentTo(object, group.clusterName),
})

/**
 * Returns a test for whether an object of the edge belongs to the virtual cluster. Objects in namespaces do
 * if their namespace does, and so do leases and events of its nodes. `mayShow` can narrow this further, to
 * the namespaces that the user may read.
 */
export function isOwnObject(
  { view, seenAs, kind }: Pick<Asked, 'view' | 'seenAs' | 'kind'>,
  signal: AbortSignal,
  mayShow?: (member: string) => Promise<boolean>,
): (object: JsonObject) => boolean | Promise<boolean> {
  const { edge, group } = view
  const { clusterName } = group
  const shown = async (member: string): Promise<boolean> => {
    // Objects of a deleted namespace still have a last event, so the owner of a namespace that is gone
    // counts, too.
    const owner = edge.ownerOf(member) ?? (await edge.findOwner(member, signal))
    return owner?.cluster === clusterName && (await mayShow?.(member)) !== false
  }
  return (object) => {
    if (seenAs !== undefined) {
      if (!judges[seenAs](object, view)) return false
      if (seenAs !== 'namespaces' || !mayShow) return true
      return shown(textAt(object, 'metadata', 'name'))
    }
    const member = textAt(object, 'metadata', 'namespace')
    if (member === '') return false
    const owner = edge.ownerOf(member)
    if (owner && owner.cluster !== clusterName) {
      return mayShow === undefined && isOfNode(object, kind, view)
    }
    return owner && !mayShow ? true : shown(member)
  }
}

/** The namespace of the leases by which nodes report that they are alive. */
const nodeLeases = 'kube-node-lease'

/** Reports whether a path is of leases of nodes, which virtual clusters read in the edge's own namespace. */
export function isOfNodeLeases({ resource, namespace, verb }: RequestInfo): boolean {
  return isLeases(resource) && namespace === nodeLeases && /^(?:get|list|watch)$/.test(verb)
}

function isLeases({ group, resource }: GroupResource): boolean {
  return group === 'coordination.k8s.io' && resource === 'leases'
}

/** Objects without a namespace have their events in `default`, in every cluster. */
function isOfNode(object: JsonObject, kind: GroupResource, { edge, group }: View): boolean {
  const namespace = textAt(object, 'metadata', 'namespace')
  if (isLeases(kind) && namespace === nodeLeases) {
    return edge.isNodeOf(group.clusterName, textAt(object, 'metadata', 'name'))
  }
  if (!isEvents(kind) || namespace !== 'default') return false
  const about = object['involvedObject'] ?? object['regarding']
  return textAt(about, 'kind') === 'Node' && edge.isNodeOf(group.clusterName, textAt(about, 'name'))
}

export function isEvents({ group, resource }: GroupResource): boolean {
  return resource === 'events' && (group === '' || group === 'events.k8s.io')
}

function isSentTo(object: JsonObject, cluster: string): boolean {
  const annotations = textsAt(object, 'metadata', 'annotations')
  return sharersOf({ apiVersion: '', kind: '', metadata: { annotations } }).has(cluster)
}

function labelsOf(object: JsonObject): Record<string, string> {
  return textsAt(object, 'metadata', 'labels')
}
