import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '@skerry/api'
import { keyOfObject, keyText, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { sameStatus } from '../status/same-status.ts'
import { annotations, findVolume, isBound, isReservedFor, refusalOf } from './match-volume.ts'

/** Joins claims with volumes, and keeps the phase of both. */
export const persistentVolumeBinder: ControllerDefinition = {
  name: 'persistentvolume-binder-controller',
  eventComponent: 'persistentvolume-controller',
  // One at a time: two claims must not take the same volume.
  workers: 1,
  watches: [
    watch(resources.persistentVolumeClaims, {
      keysOf: ({ object }) => [`claim/${keyOfObject(object)}`, ...volumeKey(object)],
    }),
    watch(resources.persistentVolumes, {
      keysOf: ({ object, type }, context) => [
        ...(type === 'deleted' ? [] : [`volume/${object.metadata.name}`]),
        ...claimKeys(object, context),
      ],
    }),
    watch(resources.storageClasses, { keysOf: (_, context) => pendingClaims(context) }),
  ],
  async reconcile(key, context, signal) {
    const [kind = '', ...rest] = key.split('/')
    if (kind === 'claim') await syncClaim(rest.join('/'), context, signal)
    else await syncVolume(rest.join('/'), context, signal)
  },
}

function volumeKey(claim: PersistentVolumeClaim): string[] {
  return claim.spec?.volumeName ? [`volume/${claim.spec.volumeName}`] : []
}

/** The volume's own claim; a free volume may be what any waiting claim looks for. */
function claimKeys(volume: PersistentVolume, context: ControllerContext): string[] {
  const ref = volume.spec?.claimRef
  if (ref === undefined) return pendingClaims(context)
  return [`claim/${keyText({ namespace: ref.namespace, name: ref.name ?? '' })}`]
}

function pendingClaims(context: ControllerContext): string[] {
  return context
    .informer(resources.persistentVolumeClaims)
    .list()
    .filter((claim) => !isBound(claim))
    .map((claim) => `claim/${keyOfObject(claim)}`)
}

async function syncClaim(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const claim = context.informer(resources.persistentVolumeClaims).get(parseKey(key))
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return
  const volumes = context.informer(resources.persistentVolumes)
  if (isBound(claim)) {
    const volume = volumes.get({ name: claim.spec?.volumeName ?? '' })
    if (volume === undefined || !isReservedFor(volume, claim))
      await writeClaimPhase(claim, 'Lost', { context, signal })
    else await bind(claim, volume, { context, signal })
    return
  }
  const storageClass = classOf(claim, context)
  const volume = chooseVolume(claim, storageClass, context)
  if (volume !== undefined) return bind(claim, volume, { context, signal })
  await writeClaimPhase(claim, 'Pending', { context, signal })
  await askProvisioner(claim, storageClass, { context, signal })
}

function classOf(
  claim: PersistentVolumeClaim,
  context: ControllerContext,
): StorageClass | undefined {
  const name = claim.spec?.storageClassName
  return name ? context.informer(resources.storageClasses).get({ name }) : undefined
}

function chooseVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
  context: ControllerContext,
): PersistentVolume | undefined {
  const volumes = context.informer(resources.persistentVolumes)
  if (claim.spec?.volumeName) {
    const named = volumes.get({ name: claim.spec.volumeName })
    const isFree = named?.spec?.claimRef === undefined || isReservedFor(named, claim)
    return named !== undefined && isFree && refusalOf(named, claim) === undefined
      ? named
      : undefined
  }
  const node = selectedNode(claim)
  if (storageClass?.volumeBindingMode === 'WaitForFirstConsumer' && node === undefined) {
    return volumes.list().find((volume) => isReservedFor(volume, claim))
  }
  return findVolume(claim, volumes.list(), (volume) => node === undefined || isOnNode(volume, node))
}

function selectedNode(claim: PersistentVolumeClaim): string | undefined {
  return claim.metadata.annotations?.[annotations.selectedNode]
}

/** By the host name label, which is how local volumes name their node. */
function isOnNode(volume: PersistentVolume, node: string): boolean {
  const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms
  if (terms === undefined) return true
  return terms.some((term) =>
    (term.matchExpressions ?? []).every(
      (each) => each.key !== 'kubernetes.io/hostname' || (each.values ?? []).includes(node),
    ),
  )
}

async function askProvisioner(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
  { context, signal }: Scope,
): Promise<void> {
  if (storageClass === undefined) {
    const message = claim.spec?.storageClassName
      ? `storageclass.storage.k8s.io "${claim.spec.storageClassName}" not found`
      : 'no persistent volumes available for this claim and no storage class is set'
    const reason = claim.spec?.storageClassName ? 'ProvisioningFailed' : 'FailedBinding'
    const type = claim.spec?.storageClassName ? 'Warning' : 'Normal'
    return context.events.event(claim, { type, reason, message })
  }
  const waits = storageClass.volumeBindingMode === 'WaitForFirstConsumer'
  if (waits && selectedNode(claim) === undefined) {
    const message = 'waiting for first consumer to be created before binding'
    return context.events.event(claim, { type: 'Normal', reason: 'WaitForFirstConsumer', message })
  }
  if (storageClass.provisioner === 'kubernetes.io/no-provisioner') return
  const { provisioner } = storageClass
  if (claim.metadata.annotations?.[annotations.storageProvisioner] !== provisioner) {
    const patch = {
      metadata: {
        annotations: {
          [annotations.storageProvisioner]: provisioner,
          [annotations.storageProvisionerBeta]: provisioner,
        },
      },
    }
    const { namespace, name = '' } = claim.metadata
    await context
      .client(resources.persistentVolumeClaims)
      .patch({ type: 'merge', namespace, name, patch }, signal)
  }
  context.events.event(claim, {
    type: 'Normal',
    reason: 'ExternalProvisioning',
    message: `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
  })
}

interface Scope {
  context: ControllerContext
  signal: AbortSignal
}

/** Four writes, each of which may be the last before a crash: whoever comes next goes on from there. */
async function bind(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  scope: Scope,
): Promise<void> {
  const bound = await bindVolume(claim, volume, scope)
  await writeVolumePhase(bound, 'Bound', scope)
  const { context, signal } = scope
  let next = claim
  if (!isBound(claim)) {
    const isOurChoice = !claim.spec?.volumeName
    const marks = {
      ...claim.metadata.annotations,
      [annotations.bindCompleted]: 'yes',
      ...(isOurChoice ? { [annotations.boundByController]: 'yes' } : {}),
    }
    next = await context.client(resources.persistentVolumeClaims).update(
      {
        ...claim,
        metadata: { ...claim.metadata, annotations: marks },
        spec: { ...claim.spec, volumeName: bound.metadata.name },
      },
      signal,
    )
  }
  await writeClaimPhase(next, 'Bound', { ...scope, volume: bound })
}

async function bindVolume(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  { context, signal }: Scope,
): Promise<PersistentVolume> {
  if (volume.spec?.claimRef?.uid === claim.metadata.uid) return volume
  const isOurChoice = volume.spec?.claimRef === undefined
  const { namespace, name, uid, resourceVersion } = claim.metadata
  const claimRef = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    namespace,
    name,
    uid,
    resourceVersion,
  }
  const marks = {
    ...volume.metadata.annotations,
    ...(isOurChoice ? { [annotations.boundByController]: 'yes' } : {}),
  }
  return context.client(resources.persistentVolumes).update(
    {
      ...volume,
      metadata: { ...volume.metadata, annotations: marks },
      spec: { ...volume.spec, claimRef },
    },
    signal,
  )
}

async function writeClaimPhase(
  claim: PersistentVolumeClaim,
  phase: string,
  { context, signal, volume }: Scope & { volume?: PersistentVolume },
): Promise<void> {
  const status = {
    ...claim.status,
    phase,
    ...(volume === undefined
      ? {}
      : {
          accessModes: volume.spec?.accessModes,
          capacity: claim.status?.capacity ?? {
            storage: volume.spec?.capacity?.['storage'] ?? '0',
          },
        }),
  }
  if (sameStatus(claim.status, status)) return
  await context.client(resources.persistentVolumeClaims).updateStatus({ ...claim, status }, signal)
}

async function writeVolumePhase(
  volume: PersistentVolume,
  phase: string,
  { context, signal }: Scope,
): Promise<void> {
  if (volume.status?.phase === phase) return
  await context
    .client(resources.persistentVolumes)
    .updateStatus({ ...volume, status: { ...volume.status, phase } }, signal)
}

async function syncVolume(
  name: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const volume = context.informer(resources.persistentVolumes).get({ name })
  if (volume === undefined || volume.metadata.deletionTimestamp !== undefined) return
  const ref = volume.spec?.claimRef
  if (ref === undefined || ref.uid === undefined || ref.uid === '') {
    return writeVolumePhase(volume, 'Available', { context, signal })
  }
  const claim = context
    .informer(resources.persistentVolumeClaims)
    .get({ namespace: ref.namespace, name: ref.name ?? '' })
  // Deleted and made anew under its name is another claim: the volume is not its.
  if (claim?.metadata.uid !== ref.uid)
    await writeVolumePhase(volume, 'Released', { context, signal })
}
