import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@skerry/api'
import { keyOfObject, keyText, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { claimKeysOf } from '../attach-detach/pod-volumes.ts'
import { isPodFinished } from '../pods/pod-state.ts'
import { sameStatus } from '../status/same-status.ts'
import { annotations, findVolume, isBound, isReservedFor, refusalOf } from './match-volume.ts'

/** Binds claims to volumes, and maintains the phase of both. */
export const persistentVolumeBinder: ControllerDefinition = {
  name: 'persistentvolume-binder-controller',
  eventComponent: 'persistentvolume-controller',
  // One worker only: two claims must not take the same volume.
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
    watch(resources.pods, {
      keysOf: ({ type, object }, context) =>
        type === 'added' && awaitsNode(object) ? unboundClaimsOf(object, context) : [],
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

/** Returns the volume's own claim; a free volume may suit any waiting claim. */
function claimKeys(volume: PersistentVolume, context: ControllerContext): string[] {
  const ref = volume.spec?.claimRef
  if (ref === undefined) return pendingClaims(context)
  return [`claim/${keyText({ namespace: ref.namespace, name: ref.name ?? '' })}`]
}

function unboundClaimsOf(pod: Pod, context: ControllerContext): string[] {
  const claims = context.informer(resources.persistentVolumeClaims)
  return claimKeysOf(pod).flatMap((key) => {
    const claim = claims.get(parseKey(key))
    return claim === undefined || isBound(claim) ? [] : [`claim/${key}`]
  })
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
    if (volume !== undefined && isReservedFor(volume, claim)) {
      await bind(claim, volume, { context, signal })
    } else {
      await writeLost(claim, volume, { context, signal })
    }
    return
  }
  const storageClass = classOf(claim, context)
  const volume = chooseVolume(claim, storageClass, context)
  if (volume !== undefined) return bind(claim, volume, { context, signal })
  await writeClaimPhase(claim, 'Pending', { context, signal })
  if (claim.spec?.volumeName) tellRefusal(claim, context)
  else await askProvisioner(claim, storageClass, { context, signal })
}

/** Reports why a claim does not get the volume that it names. A missing volume is waited for. */
function tellRefusal(claim: PersistentVolumeClaim, context: ControllerContext): void {
  const name = claim.spec?.volumeName ?? ''
  const volume = context.informer(resources.persistentVolumes).get({ name })
  if (volume === undefined) return
  const isTaken = volume.spec?.claimRef !== undefined && !isReservedFor(volume, claim)
  const reason = isTaken ? 'FailedBinding' : 'VolumeMismatch'
  const message = isTaken
    ? `volume "${name}" already bound to a different claim.`
    : `Cannot bind to requested volume "${name}": ${refusalOf(volume, claim) ?? ''}`
  context.events.event(claim, { type: 'Warning', reason, message })
}

/**
 * Marks a bound claim as lost because its volume is gone or belongs to another claim. Its data is
 * lost, too.
 */
async function writeLost(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
  { context, signal }: Scope,
): Promise<void> {
  const { accessModes: _modes, capacity: _capacity, ...rest } = claim.status ?? {}
  const status = { ...rest, phase: 'Lost' }
  if (sameStatus(claim.status, status)) return
  await context.client(resources.persistentVolumeClaims).updateStatus({ ...claim, status }, signal)
  const [reason, message] =
    volume === undefined
      ? ['ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!']
      : ['ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly']
  context.events.event(claim, { type: 'Warning', reason, message })
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

/** Compares the host name label, by which local volumes name their node. */
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
    return context.events.event(claim, { type: 'Normal', ...whatIsAwaited(claim, context) })
  }
  if (storageClass.provisioner === 'kubernetes.io/no-provisioner') {
    const message = `no volume plugin matched name: ${storageClass.provisioner}`
    return context.events.event(claim, { type: 'Warning', reason: 'ProvisioningFailed', message })
  }
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

/** Describes the wait: for the scheduling of pods that use the claim, or for any pod at all. */
function whatIsAwaited(
  claim: PersistentVolumeClaim,
  context: ControllerContext,
): { reason: string; message: string } {
  const key = keyOfObject(claim)
  const names = context
    .informer(resources.pods)
    .list(claim.metadata.namespace)
    .filter((pod) => awaitsNode(pod) && claimKeysOf(pod).includes(key))
    .map(({ metadata }) => metadata.name ?? '')
  if (names.length === 0) {
    const message = 'waiting for first consumer to be created before binding'
    return { reason: 'WaitForFirstConsumer', message }
  }
  const who = names.length === 1 ? `pod ${names[0]}` : `pods ${names.join(',')}`
  return { reason: 'WaitForPodScheduled', message: `waiting for ${who} to be scheduled` }
}

function awaitsNode(pod: Pod): boolean {
  return !pod.spec?.nodeName && !isPodFinished(pod)
}

interface Scope {
  context: ControllerContext
  signal: AbortSignal
}

/** Binds in four writes. If the process crashes after any of them, the next run continues from there. */
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
  if (volume === undefined) return
  const ref = volume.spec?.claimRef
  if (ref === undefined || ref.uid === undefined || ref.uid === '') {
    return writeVolumePhase(volume, 'Available', { context, signal })
  }
  const claim = context
    .informer(resources.persistentVolumeClaims)
    .get({ namespace: ref.namespace, name: ref.name ?? '' })
  // A claim that was deleted and created again under the same name is another one and does not own
  // the volume.
  if (claim?.metadata.uid !== ref.uid)
    await writeVolumePhase(volume, 'Released', { context, signal })
}
