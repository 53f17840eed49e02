import { createHash } from 'node:crypto'
import type {
  CSIDriverSpec,
  CSIVolumeSource,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from '@skerry/api'
import { specOf } from '../pod/pod-spec.ts'
import { VolumeError, type CsiVolumeRequest } from '../volumes/volume.ts'
import type { DriverAccessMode, VolumeCapability } from './csi-driver.ts'
import type { RegisteredDriver } from './csi-drivers.ts'
import type { PlacedVolume } from './volume-record.ts'

export interface SecretName {
  readonly namespace: string
  readonly name: string
}

/** One volume of one pod, as a driver has to provide it. */
export interface CsiVolume extends PlacedVolume {
  /** The name as in a node's status: plugin, driver and handle. */
  readonly uniqueName: string
  readonly lifecycle: 'Persistent' | 'Ephemeral'
  readonly pod: Pod
  readonly isReadOnly: boolean
  readonly fsType: string
  readonly mountOptions: readonly string[]
  readonly accessModes: readonly string[]
  readonly attributes: Readonly<Record<string, string>>
  readonly stageSecret: SecretName | undefined
  readonly publishSecret: SecretName | undefined
  readonly expandSecret: SecretName | undefined
  readonly persistent: { volume: PersistentVolume; claim: PersistentVolumeClaim } | undefined
}

export function describeVolume(request: CsiVolumeRequest): CsiVolume {
  const { pod, volumeName, isReadOnly } = request
  return 'inline' in request
    ? ofInline({ pod, name: volumeName }, request.inline)
    : ofPersistent(pod, isReadOnly, request)
}

function ofPersistent(
  pod: Pod,
  isReadOnly: boolean,
  { volume, claim }: { volume: PersistentVolume; claim: PersistentVolumeClaim },
): CsiVolume {
  const name = volume.metadata.name ?? ''
  const { csi, mountOptions = [], accessModes = [], volumeMode } = volume.spec ?? {}
  if (!csi) throw new VolumeError(`persistentvolume "${name}" is not of a CSI driver`)
  const { driver: driverName, volumeHandle, fsType = '', volumeAttributes = {} } = csi
  return {
    uniqueName: uniqueName(driverName, volumeHandle),
    driverName,
    volumeHandle,
    specName: name,
    podUid: pod.metadata.uid ?? '',
    pod,
    lifecycle: 'Persistent',
    isBlock: volumeMode === 'Block',
    isReadOnly: isReadOnly || csi.readOnly === true,
    fsType,
    mountOptions,
    accessModes,
    attributes: volumeAttributes,
    stageSecret: secretName(csi.nodeStageSecretRef),
    publishSecret: secretName(csi.nodePublishSecretRef),
    expandSecret: secretName(csi.nodeExpandSecretRef),
    persistent: { volume, claim },
  }
}

function ofInline(
  { pod, name }: { pod: Pod; name: string },
  { driver, fsType = '', readOnly = false, volumeAttributes = {}, ...source }: CSIVolumeSource,
): CsiVolume {
  const podUid = pod.metadata.uid ?? ''
  const hash = createHash('sha256').update(`${podUid}${name}`).digest('hex')
  const volumeHandle = `csi-${hash}`
  const namespace = pod.metadata.namespace ?? ''
  return {
    uniqueName: uniqueName(driver, volumeHandle),
    driverName: driver,
    volumeHandle,
    specName: name,
    podUid,
    pod,
    lifecycle: 'Ephemeral',
    isBlock: false,
    isReadOnly: readOnly,
    fsType,
    mountOptions: [],
    accessModes: ['ReadWriteOnce'],
    attributes: volumeAttributes,
    stageSecret: undefined,
    publishSecret: secretName({ ...source.nodePublishSecretRef, namespace }),
    expandSecret: undefined,
    persistent: undefined,
  }
}

/** The attach-detach controller computes the same name. */
function uniqueName(driver: string, handle: string): string {
  return `kubernetes.io/csi/${driver}^${handle}`
}

function secretName({ namespace, name }: { namespace?: string; name?: string } = {}):
  | SecretName
  | undefined {
  return namespace && name ? { namespace, name } : undefined
}

type Policy = CSIDriverSpec | undefined
type Capabilities = RegisteredDriver['capabilities']

/** A driver without a CSIDriver object attaches. Volumes in a pod are never attached. */
export function needsAttach({ lifecycle }: CsiVolume, policy: Policy): boolean {
  return lifecycle === 'Persistent' && policy?.attachRequired !== false
}

/** Volumes in a pod are published without being staged (KEP-596). */
export function needsStage({ lifecycle }: CsiVolume, capabilities: Capabilities): boolean {
  return lifecycle === 'Persistent' && capabilities.has('STAGE_UNSTAGE_VOLUME')
}

/** Throws VolumeError if the driver does not offer volumes of this lifecycle. */
export function checkLifecycle({ lifecycle, driverName }: CsiVolume, policy: Policy): void {
  if (lifecycle === 'Ephemeral' && policy === undefined) {
    throw new VolumeError(
      `volume mode "Ephemeral" not supported by driver ${driverName} (no CSIDriver object)`,
    )
  }
  const modes = policy?.volumeLifecycleModes ?? []
  if ((modes.length === 0 ? ['Persistent'] : modes).includes(lifecycle)) return
  throw new VolumeError(
    `volume mode "${lifecycle}" not supported by driver ${driverName} (only supports [${modes.join(' ')}])`,
  )
}

/** Returns the volume's capability in the words of the driver. */
export function capabilityOf(volume: CsiVolume, capabilities: Capabilities): VolumeCapability {
  const accessMode = { mode: accessModeOf(volume.accessModes, capabilities) }
  if (volume.isBlock) return { block: {}, accessMode }
  const group = mountGroupOf(volume, capabilities)
  return {
    mount: {
      fsType: volume.fsType,
      mountFlags: volume.mountOptions,
      volumeMountGroup: group === undefined ? '' : String(group),
    },
    accessMode,
  }
}

/** The first access mode counts, as in kubelet. */
function accessModeOf([first]: readonly string[], capabilities: Capabilities): DriverAccessMode {
  const isFine = capabilities.has('SINGLE_NODE_MULTI_WRITER')
  switch (first) {
    case 'ReadOnlyMany':
      return 'MULTI_NODE_READER_ONLY'
    case 'ReadWriteMany':
      return 'MULTI_NODE_MULTI_WRITER'
    case 'ReadWriteOncePod':
      return isFine ? 'SINGLE_NODE_SINGLE_WRITER' : 'SINGLE_NODE_WRITER'
    default:
      return isFine ? 'SINGLE_NODE_MULTI_WRITER' : 'SINGLE_NODE_WRITER'
  }
}

/** Returns the group that the driver itself gives the volume to. */
function mountGroupOf({ pod }: CsiVolume, capabilities: Capabilities): number | undefined {
  if (!capabilities.has('VOLUME_MOUNT_GROUP')) return undefined
  return specOf(pod).securityContext?.fsGroup
}

/** Returns the group to which this node gives the files of the volume, by the driver's fsGroupPolicy. */
export function ownGroupOf(
  volume: CsiVolume,
  policy: Policy,
  capabilities: Capabilities,
): number | undefined {
  const { isBlock, isReadOnly, fsType, accessModes, pod } = volume
  const group = specOf(pod).securityContext?.fsGroup
  if (group === undefined || isBlock || isReadOnly || capabilities.has('VOLUME_MOUNT_GROUP'))
    return undefined
  switch (policy?.fsGroupPolicy) {
    case 'None':
      return undefined
    case 'File':
      return group
    default:
      return fsType !== '' && accessModes.includes('ReadWriteOnce') ? group : undefined
  }
}

const prefix = 'csi.storage.k8s.io'

/** Returns the attributes for NodePublishVolume, with what the driver asked to know about the pod. */
export function publishAttributes(
  { pod, attributes, lifecycle }: CsiVolume,
  policy: Policy,
): Record<string, string> {
  if (policy?.podInfoOnMount !== true) return { ...attributes }
  const { name = '', namespace = '', uid = '' } = pod.metadata
  return {
    ...attributes,
    [`${prefix}/pod.name`]: name,
    [`${prefix}/pod.namespace`]: namespace,
    [`${prefix}/pod.uid`]: uid,
    [`${prefix}/serviceAccount.name`]: specOf(pod).serviceAccountName ?? '',
    [`${prefix}/ephemeral`]: String(lifecycle === 'Ephemeral'),
  }
}

/** The member of the attributes, or of the secrets, that has the pod's tokens by audience. */
export const tokensKey = `${prefix}/serviceAccount.tokens`
