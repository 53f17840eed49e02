import type { PersistentVolume, PersistentVolumeClaim } from '@skerry/api'
import { isNodeEvent } from '../framework/cluster-event.ts'
import type { NodeInfo } from '../framework/node-info.ts'
import type { PodInfo } from '../framework/pod-info.ts'
import { refuse, refuseForGood, type PlacementContext, type Plugin } from '../framework/plugin.ts'
import { claimsOf, isBound, isOwnClaim } from './volume-plugins.ts'

/** Limits the number of volumes of each CSI driver that a node attaches, as its CSINode declares. */
export const nodeVolumeLimits: Plugin = {
  name: 'NodeVolumeLimits',
  filter: (context) => {
    const wanted = volumesOf(context, context.pod)
    if (wanted.size === 0) return undefined
    return (node) => {
      const limits = limitsOf(context, node)
      if (limits.size === 0) return undefined
      const attached = new Map<string, string>()
      for (const other of node.pods.values()) {
        for (const [volume, driver] of volumesOf(context, other)) attached.set(volume, driver)
      }
      const added = [...wanted].filter(([volume]) => !attached.has(volume))
      for (const [driver, limit] of limits) {
        const isOf = ([, each]: readonly [string, string]): boolean => each === driver
        const coming = added.filter(isOf).length
        if (coming > 0 && coming + [...attached].filter(isOf).length > limit) {
          return refuse('node(s) exceed max volume count')
        }
      }
      return undefined
    }
  },
  isHelpedBy: (event, pod) =>
    event.kind === 'csi-node' ||
    isOwnClaim(event, pod) ||
    event.kind === 'pod-removed' ||
    event.kind === 'node-added',
}

function limitsOf({ snapshot }: PlacementContext, node: NodeInfo): Map<string, number> {
  const drivers = snapshot.csiNode(node.name)?.spec?.drivers ?? []
  return new Map(
    drivers.flatMap(({ name, allocatable }) =>
      allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
    ),
  )
}

/** Returns the CSI volumes that a pod uses, with their drivers; a volume that two pods share counts once. */
function volumesOf(context: PlacementContext, pod: PodInfo): Map<string, string> {
  const found = new Map<string, string>()
  const hasClaims = (pod.pod.spec?.volumes ?? []).some(
    (each) => each.persistentVolumeClaim !== undefined || each.ephemeral !== undefined,
  )
  if (!hasClaims) return found
  for (const claim of claimsOf({ pod, snapshot: context.snapshot })) {
    if (claim === undefined) continue
    const { volumeName = '' } = claim.spec ?? {}
    const csi = context.snapshot.volume(volumeName)?.spec?.csi
    if (csi !== undefined) found.set(`${csi.driver}/${csi.volumeHandle}`, csi.driver)
    else if (volumeName === '') {
      const driver = provisionerOf(context, claim)
      if (driver !== '') found.set(`${driver}/claim/${claim.metadata.uid}`, driver)
    }
  }
  return found
}

function provisionerOf({ snapshot }: PlacementContext, claim: PersistentVolumeClaim): string {
  return snapshot.storageClass(claim.spec?.storageClassName ?? '')?.provisioner ?? ''
}

const zoneLabels = [
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
] as const

/** A volume with a zone label can be used only from nodes of that zone. */
export const volumeZone: Plugin = {
  name: 'VolumeZone',
  preFilter: (context) => {
    for (const claim of claimsOf(context)) {
      const { volumeName = '' } = claim?.spec ?? {}
      if (volumeName !== '' && context.snapshot.volume(volumeName) === undefined) {
        return refuseForGood(`persistentvolume "${volumeName}" not found`)
      }
    }
    return undefined
  },
  filter: (context) => {
    const places = claimsOf(context).flatMap((claim) => {
      if (claim === undefined || !isBound(claim)) return []
      const volume = context.snapshot.volume(claim.spec?.volumeName ?? '')
      return volume === undefined ? [] : placesOf(volume)
    })
    if (places.length === 0) return undefined
    return (node) => {
      // In a cluster without zones no node is in a wrong one.
      if (zoneLabels.every((label) => node.labels[label] === undefined)) return undefined
      const isThere = places.every(([label, values]) => values.includes(node.labels[label] ?? ''))
      return isThere ? undefined : refuseForGood('node(s) had no available volume zone')
    }
  },
  isHelpedBy: (event, pod) =>
    isOwnClaim(event, pod) ||
    event.kind === 'volume' ||
    event.kind === 'storage-class' ||
    isNodeEvent(event, 'labels'),
}

/** Two underscores separate several zones of one volume. */
function placesOf({ metadata }: PersistentVolume): (readonly [string, readonly string[]])[] {
  return zoneLabels.flatMap((label) => {
    const value = metadata.labels?.[label]
    return value === undefined ? [] : [[label, value.split('__')] as const]
  })
}
