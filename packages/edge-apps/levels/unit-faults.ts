import {
  localPath,
  matchesNodeAffinity,
  matchesNodeSelectorTerms,
  podReferences,
  type KubeObject,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodSpec,
} from '@skerry/api'
import { isReady } from '../groups/label-groups.ts'
import type { NodeUnit } from '../superedge/unit.ts'

/** The autonomy levels at which a unit has a control plane of its own, with the number of its servers. */
export const serversOfLevel: Readonly<Record<string, number>> = Object.freeze({ L4: 1, L5: 3 })

/** The reason why a unit cannot become a cluster of its own. */
export interface UnitFault {
  readonly reason:
    | 'UnknownLevel'
    | 'InsufficientReadyNode'
    | 'UnfitNode'
    | 'NodeInOtherUnit'
    | 'ForeignWorkload'
    | 'SharedWorkload'
    | 'RemoteVolume'
    | 'CustomResource'
    | 'DeviceInUse'
    | 'TooManyPods'
    | 'Forbidden'
    | 'NotSupported'
  /** The fault and its remedy. */
  readonly message: string
}

/** Finds what keeps the nodes of a unit from being a cluster of their own. `others` are the other units above L3. */
export function faultsOfNodes(
  { spec = {} }: NodeUnit,
  members: readonly Node[],
  others: readonly { readonly name: string; readonly members: readonly Node[] }[],
): UnitFault[] {
  const { autonomyLevel = 'L3' } = spec
  const servers = serversOfLevel[autonomyLevel]
  if (servers === undefined) return [unknownLevel(autonomyLevel)]
  return [
    ...tooFew(servers, members),
    ...members.flatMap(unfit),
    ...members.flatMap((node): UnitFault[] => {
      const other = others.find((each) => each.members.some((one) => nameOf(one) === nameOf(node)))
      if (!other) return []
      const message = `node ${nameOf(node)} is in unit ${other.name}, too, which is to be a cluster of its own; take it out of one of them`
      return [{ reason: 'NodeInOtherUnit', message }]
    }),
  ]
}

export function unknownLevel(level: string): UnitFault {
  const message = `autonomyLevel ${level} is not known; known are L3, L4 and L5`
  return { reason: 'UnknownLevel', message }
}

function tooFew(servers: number, members: readonly Node[]): UnitFault[] {
  const ready = members.filter(isReady).length
  if (ready >= servers) return []
  return [insufficient({ ready, all: members.length, servers })]
}

export function insufficient({
  ready,
  all,
  servers,
}: Readonly<Record<'ready' | 'all' | 'servers', number>>): UnitFault {
  // SuperEdge's words come first.
  const message = `Insufficient Ready Node: ${ready} of ${all} nodes ready, ${servers} needed for its control plane`
  return { reason: 'InsufficientReadyNode', message }
}

const masterLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master']

function unfit(node: Node): UnitFault[] {
  const { labels = {}, annotations = {} } = node.metadata
  if (masterLabels.some((label) => labels[label] !== undefined)) {
    const message = `node ${nameOf(node)} is a control plane of this cluster; take it out of the unit`
    return [{ reason: 'UnfitNode', message }]
  }
  if (annotations[localPath.directoryAnnotation] !== undefined) return []
  const message = `node ${nameOf(node)} does not run skerry node, which alone can change its control plane; take it out of the unit`
  return [{ reason: 'UnfitNode', message }]
}

/** The pods on the nodes of a unit, and what belongs to them. */
export interface UnitPods {
  readonly pods: readonly Pod[]
  /** Returns the outermost object that makes a pod; the pod itself if nothing does. */
  readonly makerOf: (pod: Pod) => Maker
  readonly claimOf: (namespace: string, name: string) => PersistentVolumeClaim | undefined
  readonly volumeOf: (name: string) => PersistentVolume | undefined
}

/** The object that makes pods. One of a kind without a known template is made by a controller of somebody else. */
export interface Maker {
  readonly kind: string
  readonly object: Pick<KubeObject, 'metadata'>
  readonly template?: PodSpec | undefined
}

/**
 * Finds what keeps the pods of a unit from being handed over: each of them must be made by one object whose pods run in the
 * unit alone, and its volumes must be on disks of the unit.
 */
export function faultsOfPods(
  unit: UnitPods,
  members: readonly Node[],
  nodes: readonly Node[],
): UnitFault[] {
  const names = new Set(members.map(nameOf))
  const outside = nodes.filter((node) => !names.has(nameOf(node)))
  const found = unit.pods
    .filter((pod) => !isMirror(pod) && !isFinished(pod))
    .flatMap((pod) => [
      ...faultsOfMaker(unit.makerOf(pod), outside),
      ...faultsOfDevices(pod),
      ...faultsOfVolumes(pod, unit, { members, outside }),
    ])
  return [...new Map(found.map((fault) => [fault.message, fault])).values()]
}

function faultsOfMaker({ kind, object, template }: Maker, outside: readonly Node[]): UnitFault[] {
  // A bare pod goes with its node, and each control plane makes the DaemonSet's pods of its own nodes.
  if (kind === 'Pod' || kind === 'DaemonSet') return []
  const { namespace = '', name = '' } = object.metadata
  const maker = `${kind} ${namespace}/${name}`
  if (template === undefined) {
    const message = `pods are made by ${maker}, whose controller is not a part of every cluster; make them by a kind of Kubernetes`
    return [{ reason: 'ForeignWorkload', message }]
  }
  const other = outside.find((node) => matchesNodeAffinity(template, selectable(node)))
  if (!other) return []
  const message = `${maker} may run outside of the unit, e.g. on node ${nameOf(other)}; make it by a grid, or choose a label that only nodes of the unit have`
  return [{ reason: 'SharedWorkload', message }]
}

function faultsOfDevices(pod: Pod): UnitFault[] {
  if ((pod.spec?.resourceClaims ?? []).length === 0) return []
  const message = `pod ${fullName(pod)} has resource claims, which are not handed over; remove them`
  return [{ reason: 'DeviceInUse', message }]
}

function faultsOfVolumes(
  pod: Pod,
  { claimOf, volumeOf }: UnitPods,
  { members, outside }: { readonly members: readonly Node[]; readonly outside: readonly Node[] },
): UnitFault[] {
  return podReferences(pod).flatMap(({ resource, namespace, name }): UnitFault[] => {
    if (resource !== 'persistentvolumeclaims') return []
    const volumeName = claimOf(namespace, name)?.spec?.volumeName
    // A pod whose claim is not bound has no data yet.
    if (volumeName === undefined) return []
    const terms = volumeOf(volumeName)?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []
    const fits = (node: Node): boolean => matchesNodeSelectorTerms(terms, selectable(node))
    if (members.some(fits) && !outside.some(fits)) return []
    const message = `volume ${volumeName} of claim ${namespace}/${name} is not on a disk of the unit alone; use a class of local volumes`
    return [{ reason: 'RemoteVolume', message }]
  })
}

function selectable(node: Node): { name: string; labels: Readonly<Record<string, string>> } {
  return { name: nameOf(node), labels: node.metadata.labels ?? {} }
}

/** A node starts its static pods itself, under any control plane. */
function isMirror({ metadata }: Pod): boolean {
  return metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined
}

function isFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

function nameOf({ metadata }: Node): string {
  return metadata.name ?? ''
}

function fullName({ metadata }: Pod): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`
}
