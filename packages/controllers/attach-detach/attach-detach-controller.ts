import { isStatusError, type Node, type PersistentVolume, type Pod } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { planAttach, type AttachPlan, type AttachState } from './attach-plan.ts'
import {
  attachmentName,
  csiVolumeOf,
  isManaged,
  isShareable,
  needsAttach,
  parseVolumeName,
  reportedVolumes,
  type CsiVolume,
} from './csi-volume.ts'
import { multiAttachMessage } from './multi-attach.ts'
import { boundVolumes, claimKeysOf, holdsVolumes } from './pod-volumes.ts'
import { controllerBounds } from '../limits-table.ts'

const byClaim = 'mountedClaim'
const byNode = 'nodeName'
const byCsiName = 'csiName'
const byAttacher = 'attacher'

/** The state of one volume in this process. After a restart the waits begin again. */
interface VolumeMemory {
  readonly unwantedSinceMs: Map<string, number>
  readonly waitingSinceMs: Map<string, number>
  /** Nodes whose pods have an event that they cannot have the volume. */
  readonly refused: Set<string>
}

const { retryMsMin, retryMsMax } = controllerBounds.attachDetachController

const allMemories = new WeakMap<ControllerContext, Map<string, VolumeMemory>>()

/**
 * Asks CSI drivers, through VolumeAttachment objects, to attach the volumes that a node's pods
 * need, and to detach those that none needs any more. Records in each node's status which volumes
 * it may use. Handles nodes whose kubelet leaves this to the cluster, and drivers that attach.
 */
export const attachDetachController: ControllerDefinition = {
  name: 'persistentvolume-attach-detach-controller',
  eventComponent: 'attachdetach-controller',
  // Each write of a node's status lists all of its volumes, so two at a time would undo each other.
  workers: 1,
  queue: { baseDelayMs: retryMsMin, maxDelayMs: retryMsMax },
  watches: [
    watch(resources.pods, {
      indexes: {
        [byClaim]: claimKeysOf,
        [byNode]: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []),
      },
      keysOf: ({ object }, context) => keysOfPod(object, context),
    }),
    watch(resources.persistentVolumeClaims, {
      keysOf: ({ object }, context) =>
        context
          .informer(resources.pods)
          .byIndex(byClaim, keyOfObject(object))
          .flatMap((pod) => keysOfPod(pod, context)),
    }),
    watch(resources.persistentVolumes, {
      indexes: { [byCsiName]: (volume) => keysOfVolume(volume) },
      keysOf: ({ object }) => keysOfVolume(object),
    }),
    watch(resources.nodes, {
      keysOf: ({ object, old }, context) => keysOfNode(object, old, context),
    }),
    watch(resources.csiDrivers, { keysOf: () => [] }),
    watch(resources.volumeAttachments, {
      indexes: { [byAttacher]: ({ spec }) => [spec.attacher] },
      keysOf: ({ object }, context) => {
        const name = object.spec.source.persistentVolumeName ?? ''
        const volume = context.informer(resources.persistentVolumes).get({ name })
        return volume === undefined ? [] : keysOfVolume(volume)
      },
    }),
  ],
  reconcile,
}

function keysOfVolume(volume: PersistentVolume): string[] {
  const found = csiVolumeOf(volume)
  return found === undefined ? [] : [found.name]
}

function keysOfPod(pod: Pod, context: ControllerContext): string[] {
  if ((pod.spec?.nodeName ?? '') === '') return []
  return boundVolumes(pod, context).flatMap(keysOfVolume)
}

/** Heartbeats change nothing here. */
function keysOfNode(node: Node, old: Node | undefined, context: ControllerContext): string[] {
  const view = (each: Node | undefined): string =>
    JSON.stringify([
      each && isManaged(each),
      each?.spec?.taints,
      each?.status?.volumesAttached,
      each?.status?.volumesInUse,
      each?.status?.conditions?.find(({ type }) => type === 'Ready')?.status,
    ])
  if (old !== undefined && view(old) === view(node)) return []
  const pods = context.informer(resources.pods).byIndex(byNode, node.metadata.name ?? '')
  const names = [
    ...[node, old].flatMap((each) => [
      ...reportedVolumes(each),
      ...(each?.status?.volumesInUse ?? []),
    ]),
    ...pods.flatMap((pod) => keysOfPod(pod, context)),
  ]
  return [...new Set(names)].filter((name) => parseVolumeName(name) !== undefined)
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<{ requeueAfterMs?: number }> {
  const volume = parseVolumeName(key)
  if (volume === undefined) return {}
  const memories = allMemories.get(context) ?? new Map<string, VolumeMemory>()
  allMemories.set(context, memories)
  const memory = memories.get(key) ?? {
    unwantedSinceMs: new Map(),
    waitingSinceMs: new Map(),
    refused: new Set(),
  }
  const [persistent] = context.informer(resources.persistentVolumes).byIndex(byCsiName, key)
  const state = stateOf({ volume, persistent, memory }, context)
  if (state.wanted.size === 0 && state.attachments.size === 0) memories.delete(key)
  else memories.set(key, memory)
  const plan = planAttach(state)
  const scene: Scene = { volume, persistent, state, plan, memory }
  for (const { nodeName, mustAsk } of plan.detach) {
    await detach({ ...scene, nodeName, mustAsk }, context, signal)
  }
  tellRefused(scene, context)
  for (const nodeName of plan.attach) await attach({ ...scene, nodeName }, context, signal)
  for (const nodeName of plan.report) {
    await report({ volume, nodeName, isAttached: true }, context, signal)
    memory.waitingSinceMs.delete(nodeName)
    const text = { type: 'Normal', reason: 'SuccessfulAttachVolume' } as const
    tell(scene, nodeName, { ...text, message: 'AttachVolume.Attach succeeded' }, context)
  }
  tellFailed(scene, context)
  return plan.nextMs === undefined ? {} : { requeueAfterMs: plan.nextMs }
}

interface Scene {
  volume: CsiVolume
  persistent: PersistentVolume | undefined
  state: AttachState
  plan: AttachPlan
  memory: VolumeMemory
}

function stateOf(
  {
    volume,
    persistent,
    memory,
  }: { volume: CsiVolume; persistent: PersistentVolume | undefined; memory: VolumeMemory },
  context: ControllerContext,
): AttachState {
  const nowMs = context.clock.now()
  const attachments = new Map(
    context
      .informer(resources.volumeAttachments)
      .byIndex(byAttacher, volume.driver)
      .filter(({ metadata, spec }) => metadata.name === attachmentName(volume, spec.nodeName))
      .map((each) => [each.spec.nodeName, each]),
  )
  const wanted = wantedBy(persistent, context)
  const nodes = new Map(
    context
      .informer(resources.nodes)
      .list()
      .filter(
        (node) =>
          wanted.has(node.metadata.name ?? '') ||
          attachments.has(node.metadata.name ?? '') ||
          reportedVolumes(node).includes(volume.name),
      )
      .map((node) => [node.metadata.name ?? '', node]),
  )
  remember({ wanted, held: [...attachments.keys(), ...nodes.keys()], memory, nowMs })
  const { unwantedSinceMs, waitingSinceMs } = memory
  const known = { attachments, wanted, nodes, unwantedSinceMs, waitingSinceMs, nowMs }
  const { name: volumeName, driver, handle } = volume
  return { ...known, volumeName, driver, handle, isShareable: isShareable(persistent) }
}

function wantedBy(
  persistent: PersistentVolume | undefined,
  context: ControllerContext,
): Map<string, Pod[]> {
  const wanted = new Map<string, Pod[]>()
  const { namespace, name } = persistent?.spec?.claimRef ?? {}
  const driverName = persistent?.spec?.csi?.driver ?? ''
  const driver = context.informer(resources.csiDrivers).get({ name: driverName })
  if (persistent === undefined || !needsAttach(driver)) return wanted
  for (const pod of context.informer(resources.pods).byIndex(byClaim, `${namespace}/${name}`)) {
    const nodeName = pod.spec?.nodeName ?? ''
    const node = context.informer(resources.nodes).get({ name: nodeName })
    if (node === undefined || !isManaged(node) || !holdsVolumes(pod)) continue
    if (!boundVolumes(pod, context).includes(persistent)) continue
    wanted.set(nodeName, [...(wanted.get(nodeName) ?? []), pod])
  }
  return wanted
}

function remember({
  wanted,
  held,
  memory: { unwantedSinceMs, waitingSinceMs, refused },
  nowMs,
}: {
  wanted: ReadonlyMap<string, unknown>
  held: readonly string[]
  memory: VolumeMemory
  nowMs: number
}): void {
  for (const nodeName of wanted.keys()) unwantedSinceMs.delete(nodeName)
  for (const nodeName of held) {
    if (!wanted.has(nodeName) && !unwantedSinceMs.has(nodeName)) {
      unwantedSinceMs.set(nodeName, nowMs)
    }
  }
  const forgotten = [...unwantedSinceMs.keys()].filter((each) => !held.includes(each))
  for (const nodeName of forgotten) unwantedSinceMs.delete(nodeName)
  for (const nodeName of waitingSinceMs.keys()) {
    if (!wanted.has(nodeName)) waitingSinceMs.delete(nodeName)
  }
  for (const nodeName of refused) if (!wanted.has(nodeName)) refused.delete(nodeName)
}

async function attach(
  { volume, persistent, memory, nodeName }: Scene & { nodeName: string },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const persistentVolumeName = persistent?.metadata.name ?? ''
  const attachment = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: attachmentName(volume, nodeName) },
    spec: { attacher: volume.driver, nodeName, source: { persistentVolumeName } },
  }
  try {
    await context.client(resources.volumeAttachments).create(attachment, signal)
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
  memory.refused.delete(nodeName)
  memory.waitingSinceMs.set(nodeName, context.clock.now())
}

/** Updates the node's status first, so that the node mounts nothing that is about to be detached. */
async function detach(
  { volume, nodeName, mustAsk }: Scene & { nodeName: string; mustAsk: boolean },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  await report({ volume, nodeName, isAttached: false }, context, signal)
  if (mustAsk && (await isUsed({ volume, nodeName }, context, signal))) {
    throw new Error(`Cannot detach ${volume.name}: node "${nodeName}" says that it uses it`)
  }
  const name = attachmentName(volume, nodeName)
  const attachment = context.informer(resources.volumeAttachments).get({ name })
  if (attachment === undefined || attachment.metadata.deletionTimestamp !== undefined) return
  await ignoreNotFound(context.client(resources.volumeAttachments).delete({ name }, signal))
}

/** Asks the server, because the cache may be behind a kubelet that has just begun to mount. */
async function isUsed(
  { volume, nodeName }: { volume: CsiVolume; nodeName: string },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const node = await context.cluster.resource(resources.nodes).get({ name: nodeName }, signal)
    return node.status?.volumesInUse?.includes(volume.name) === true
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return false
    throw error
  }
}

/** A node may mount only volumes in its status. A node that is gone needs no update. */
async function report(
  { volume, nodeName, isAttached }: { volume: CsiVolume; nodeName: string; isAttached: boolean },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const node = context.informer(resources.nodes).get({ name: nodeName })
  if (node === undefined || reportedVolumes(node).includes(volume.name) === isAttached) return
  const others = (node.status?.volumesAttached ?? []).filter(({ name }) => name !== volume.name)
  const next = isAttached ? [...others, { name: volume.name, devicePath: '' }] : others
  const patch = { status: { volumesAttached: next.length === 0 ? null : next } }
  const client = context.client(resources.nodes)
  await ignoreNotFound(client.patchStatus({ ...parseKey(nodeName), type: 'merge', patch }, signal))
}

function tellRefused({ persistent, state, plan, memory }: Scene, context: ControllerContext): void {
  const volume = persistent?.metadata.name ?? ''
  for (const { nodeName, holders } of plan.refused) {
    if (memory.refused.has(nodeName)) continue
    memory.refused.add(nodeName)
    const others = holders.flatMap((each) => state.wanted.get(each) ?? [])
    for (const pod of state.wanted.get(nodeName) ?? []) {
      const message = multiAttachMessage(volume, pod, others)
      context.events.event(pod, { type: 'Warning', reason: 'FailedAttachVolume', message })
    }
  }
}

/** Throws after reporting, so that the next look comes after a backoff. */
function tellFailed(scene: Scene, context: ControllerContext): void {
  for (const { nodeName, message } of scene.plan.failed) {
    scene.memory.waitingSinceMs.set(nodeName, context.clock.now())
    const text = { type: 'Warning', reason: 'FailedAttachVolume' } as const
    tell(
      scene,
      nodeName,
      { ...text, message: 'AttachVolume.Attach failed', cause: message },
      context,
    )
  }
  const [first] = scene.plan.failed
  if (first !== undefined) {
    throw new Error(`Cannot attach ${scene.volume.name} to "${first.nodeName}": ${first.message}`)
  }
}

interface Text {
  type: 'Normal' | 'Warning'
  reason: string
  message: string
  cause?: string
}

function tell(
  { persistent, state }: Scene,
  nodeName: string,
  { type, reason, message, cause }: Text,
  context: ControllerContext,
): void {
  const suffix = cause === undefined ? '' : `: ${cause}`
  const text = `${message} for volume "${persistent?.metadata.name ?? ''}" ${suffix}`
  for (const pod of state.wanted.get(nodeName) ?? []) {
    context.events.event(pod, { type, reason, message: text })
  }
}
