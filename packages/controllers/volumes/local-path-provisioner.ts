import {
  isStatusError,
  localPath,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { annotations, isBound } from './match-volume.ts'

/** Creates a volume for each claim whose node is chosen, and removes volumes without a claim. */
export const localPathProvisionerController: ControllerDefinition = {
  name: 'local-path-provisioner',
  watches: [
    watch(resources.persistentVolumeClaims, {
      keysOf: ({ type, object }) =>
        type !== 'deleted' && isWanted(object) ? [`claim/${keyOfObject(object)}`] : [],
    }),
    watch(resources.persistentVolumes, {
      keysOf: ({ type, object }) =>
        type !== 'deleted' && isOurs(object) ? [`volume/${object.metadata.name}`] : [],
    }),
    watch(resources.nodes, {
      keysOf: ({ type, object }, context) => (type === 'deleted' ? volumesOf(object, context) : []),
    }),
    watch(resources.storageClasses, { keysOf: () => [] }),
  ],
  async reconcile(key, context, signal) {
    const [kind = '', ...rest] = key.split('/')
    if (kind === 'claim') await provision(rest.join('/'), context, signal)
    else await collect(rest.join('/'), context, signal)
  },
}

function isWanted(claim: PersistentVolumeClaim): boolean {
  const marks = claim.metadata.annotations
  return (
    !isBound(claim) &&
    claim.metadata.deletionTimestamp === undefined &&
    marks?.[annotations.storageProvisioner] === localPath.provisioner
  )
}

function isOurs(volume: PersistentVolume): boolean {
  return volume.metadata.annotations?.[annotations.provisionedBy] === localPath.provisioner
}

function volumesOf(node: Node, context: ControllerContext): string[] {
  return context
    .informer(resources.persistentVolumes)
    .list()
    .filter(
      (volume) =>
        isOurs(volume) && volume.metadata.labels?.[localPath.nodeLabel] === node.metadata.name,
    )
    .map((volume) => `volume/${volume.metadata.name}`)
}

async function provision(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const claim = context.informer(resources.persistentVolumeClaims).get(parseKey(key))
  const nodeName = claim?.metadata.annotations?.[annotations.selectedNode]
  if (claim === undefined || !isWanted(claim) || nodeName === undefined) return
  const node = context.informer(resources.nodes).get({ name: nodeName })
  const directory = node?.metadata.annotations?.[localPath.directoryAnnotation]
  if (node === undefined || directory === undefined) {
    const message = `failed to provision volume with StorageClass "${claim.spec?.storageClassName}": node ${nodeName} has no annotation ${localPath.directoryAnnotation}`
    context.events.event(claim, { type: 'Warning', reason: 'ProvisioningFailed', message })
    throw new Error(`Cannot provision ${key}: node ${nodeName} keeps no local volumes`)
  }
  const unsupported = (claim.spec?.accessModes ?? []).find(
    (mode) => !['ReadWriteOnce', 'ReadWriteOncePod'].includes(mode),
  )
  if (unsupported !== undefined || claim.spec?.volumeMode === 'Block') {
    const what = unsupported === undefined ? 'volume mode Block' : `access mode ${unsupported}`
    const message = `failed to provision volume with StorageClass "${claim.spec?.storageClassName}": a local path has no ${what}`
    return context.events.event(claim, { type: 'Warning', reason: 'ProvisioningFailed', message })
  }
  const volume = planVolume(claim, {
    node,
    directory,
    reclaimPolicy: reclaimPolicyOf(claim, context),
  })
  try {
    await context.client(resources.persistentVolumes).create(volume, signal)
  } catch (error) {
    // The name is derived from the claim's uid, so an earlier try of ours created it.
    if (!isStatusError(error, 'AlreadyExists')) throw error
    return
  }
  context.events.event(claim, {
    type: 'Normal',
    reason: 'ProvisioningSucceeded',
    message: `Successfully provisioned volume ${volume.metadata.name}`,
  })
}

function reclaimPolicyOf(claim: PersistentVolumeClaim, context: ControllerContext): string {
  const name = claim.spec?.storageClassName ?? ''
  return context.informer(resources.storageClasses).get({ name })?.reclaimPolicy ?? 'Delete'
}

function planVolume(
  claim: PersistentVolumeClaim,
  place: { node: Node; directory: string; reclaimPolicy: string },
): PersistentVolume {
  const name = `pvc-${claim.metadata.uid}`
  const { namespace, name: claimName, uid } = claim.metadata
  const hostname =
    place.node.metadata.labels?.['kubernetes.io/hostname'] ?? place.node.metadata.name ?? ''
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name,
      labels: { [localPath.nodeLabel]: place.node.metadata.name ?? '' },
      annotations: { [annotations.provisionedBy]: localPath.provisioner },
    },
    spec: {
      capacity: { storage: claim.spec?.resources?.requests?.['storage'] ?? '0' },
      accessModes: claim.spec?.accessModes,
      volumeMode: 'Filesystem',
      persistentVolumeReclaimPolicy: place.reclaimPolicy,
      storageClassName: claim.spec?.storageClassName,
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        namespace,
        name: claimName,
        uid,
      },
      local: { path: `${place.directory}/${name}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'kubernetes.io/hostname', operator: 'In', values: [hostname] },
              ],
            },
          ],
        },
      },
    },
  }
}

/** Deletes the object once its directory is gone: its node reports so, or the node itself is gone. */
async function collect(
  name: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const volume = context.informer(resources.persistentVolumes).get({ name })
  if (volume === undefined || !isOurs(volume) || volume.status?.phase !== 'Released') return
  if (volume.spec?.persistentVolumeReclaimPolicy !== 'Delete') return
  const nodeName = volume.metadata.labels?.[localPath.nodeLabel] ?? ''
  const isNodeGone = context.informer(resources.nodes).get({ name: nodeName }) === undefined
  if (volume.status.reason !== localPath.removedReason && !isNodeGone) return
  try {
    await context.client(resources.persistentVolumes).delete({ name }, signal)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
}
