import { createHash } from 'node:crypto'
import type { CSIDriver, Node, PersistentVolume, VolumeAttachment } from '@skerry/api'

const managedAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach'
const plugin = 'kubernetes.io/csi/'
const separator = '^'

/** A volume that a CSI driver has to attach. */
export interface CsiVolume {
  /** The name as in a node's status: plugin, driver and handle. */
  readonly name: string
  readonly driver: string
  readonly handle: string
}

export function csiVolumeOf(volume: PersistentVolume): CsiVolume | undefined {
  const source = volume.spec?.csi
  if (!source) return undefined
  const { driver, volumeHandle: handle } = source
  return { name: `${plugin}${driver}${separator}${handle}`, driver, handle }
}

/** Parses a volume's name. Returns undefined for names of other plugins. */
export function parseVolumeName(name: string): CsiVolume | undefined {
  const parts = name.slice(plugin.length).split(separator)
  const [driver, handle] = parts
  if (!name.startsWith(plugin) || parts.length !== 2 || !driver || !handle) return undefined
  return { name, driver, handle }
}

/** Kubelets and drivers compute the same name. */
export function attachmentName({ driver, handle }: CsiVolume, nodeName: string): string {
  return `csi-${createHash('sha256').update(`${handle}${driver}${nodeName}`).digest('hex')}`
}

/** A driver without a CSIDriver object attaches. */
export function needsAttach(driver: CSIDriver | undefined): boolean {
  return driver?.spec.attachRequired !== false
}

/** Returns true if the volume may be attached to several nodes, or does not declare access modes. */
export function isShareable(volume: PersistentVolume | undefined): boolean {
  const modes = volume?.spec?.accessModes ?? []
  return modes.length === 0 || modes.includes('ReadWriteMany') || modes.includes('ReadOnlyMany')
}

/** Returns true if the node's kubelet leaves attaching to this controller. */
export function isManaged({ metadata }: Node): boolean {
  return metadata.annotations?.[managedAnnotation] !== undefined
}

export function isAttached(attachment: VolumeAttachment | undefined): boolean {
  return (
    attachment?.status?.attached === true && attachment.metadata.deletionTimestamp === undefined
  )
}

export function reportedVolumes(node: Node | undefined): readonly string[] {
  return (node?.status?.volumesAttached ?? []).map(({ name }) => name)
}
