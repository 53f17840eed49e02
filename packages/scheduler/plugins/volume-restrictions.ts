import type { Pod, Volume } from '@skerry/api'
import { refuse, type PlacementContext, type Plugin } from '../framework/plugin.ts'
import { claimsOf, isOwnClaim } from './volume-plugins.ts'

const heldElsewhere =
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod'

/** ReadWriteOncePod allows one pod in the whole cluster; some network disks allow one writer per node. */
export const volumeRestrictions: Plugin = {
  name: 'VolumeRestrictions',
  filter: (context) => {
    const disks = (context.pod.pod.spec?.volumes ?? []).flatMap(diskOf)
    const isTaken = isAnExclusiveClaimTaken(context)
    if (disks.length === 0 && !isTaken) return undefined
    return (node) => {
      for (const other of node.pods.values()) {
        const theirs = (other.pod.spec?.volumes ?? []).flatMap(diskOf)
        if (theirs.some((their) => disks.some((own) => collides(own, their)))) {
          return refuse('node(s) had no available disk')
        }
      }
      return isTaken ? refuse(heldElsewhere) : undefined
    }
  },
  isHelpedBy: (event, pod) =>
    event.kind === 'node-added' ||
    isOwnClaim(event, pod) ||
    (event.kind === 'pod-removed' && event.pod.metadata.namespace === pod.metadata.namespace),
}

function isAnExclusiveClaimTaken(context: PlacementContext): boolean {
  const { pod, snapshot } = context
  if (!(pod.pod.spec?.volumes ?? []).some(isClaim)) return false
  const exclusive = claimsOf(context).filter((claim) =>
    (claim?.spec?.accessModes ?? []).includes('ReadWriteOncePod'),
  )
  if (exclusive.length === 0) return false
  const names = new Set(exclusive.map((claim) => claim?.metadata.name))
  const uses = (other: Pod): boolean =>
    (other.spec?.volumes ?? []).some((each) => names.has(each.persistentVolumeClaim?.claimName))
  return snapshot.nodes.some((node) =>
    [...node.pods.values()].some(
      (other) => other.namespace === pod.namespace && other.uid !== pod.uid && uses(other.pod),
    ),
  )
}

function isClaim({ persistentVolumeClaim, ephemeral }: Volume): boolean {
  return persistentVolumeClaim !== undefined || ephemeral !== undefined
}

interface Disk {
  readonly identity: string
  /** Readers may share it with other readers. */
  readonly isReadOnly: boolean
}

function diskOf(volume: Volume): Disk[] {
  const { gcePersistentDisk: gce, awsElasticBlockStore: aws, iscsi, rbd } = volume
  if (gce !== undefined)
    return [{ identity: `gce/${gce.pdName}`, isReadOnly: gce.readOnly === true }]
  if (aws !== undefined) return [{ identity: `aws/${aws.volumeID}`, isReadOnly: false }]
  if (iscsi !== undefined)
    return [{ identity: `iscsi/${iscsi.iqn}`, isReadOnly: iscsi.readOnly === true }]
  if (rbd === undefined) return []
  return rbd.monitors.map((monitor) => ({
    identity: `rbd/${monitor}/${rbd.pool ?? 'rbd'}/${rbd.image}`,
    isReadOnly: rbd.readOnly === true,
  }))
}

function collides(own: Disk, their: Disk): boolean {
  return own.identity === their.identity && !(own.isReadOnly && their.isReadOnly)
}
