import { isJsonObject, type JsonObject } from '@skerry/api'
import { MappingRefusal } from '@skerry/cluster-agent'
import { fieldAt } from '@skerry/fleet-kinds'

/**
 * The label by which Pod Security admission keeps a namespace's pods away from their node. An agent sets it
 * in the namespaces of a virtual cluster, and `restricted` may replace its value.
 */
export const podSecurityLabel = 'pod-security.kubernetes.io/enforce'
export const podSecurityLevel = 'baseline'

/**
 * The volumes that a pod may name: its own objects, volumes that drivers make for it, and those that it could
 * also reach over the network. All others reach files of the node, or disks with the rights of the node.
 */
export const confinedVolumes: readonly string[] = Object.freeze([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'nfs',
  'persistentVolumeClaim',
  'projected',
  'secret',
])

/** The fields of a PersistentVolume's spec that are not its source. */
const persistentFields: readonly string[] = Object.freeze([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
])

const hostNamespaces: readonly string[] = Object.freeze(['hostIPC', 'hostNetwork', 'hostPID'])

/** Throws MappingRefusal for a pod that would reach its node, or disks that other clusters may have. */
export function refuseHostPod(spec: JsonObject): void {
  const volumes = listOf(spec['volumes']).flatMap((volume) =>
    setFields(volume).filter((field) => field !== 'name' && !confinedVolumes.includes(field)),
  )
  const namespaces = hostNamespaces.filter((field) => spec[field] === true)
  const containers = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) =>
    listOf(spec[field]),
  )
  const isPrivileged = containers.some(
    (container) => fieldAt(container, 'securityContext', 'privileged') === true,
  )
  refuse([...volumes, ...namespaces, ...(isPrivileged ? ['privileged'] : [])])
}

/**
 * Throws MappingRefusal of a PersistentVolume that consists of something which the edge does not list in `sources`, as
 * `nfs` or `csi`: a part of a node, a file server that siblings use, a disk by a handle, which could be a sibling's.
 */
export function refuseVolumeSource(volume: JsonObject, sources: readonly string[]): void {
  const spec = fieldAt(volume, 'spec')
  if (!isJsonObject(spec)) return
  const known = [...persistentFields, ...sources]
  refuse(
    setFields(spec).filter((field) => !known.includes(field)),
    'have the edge list the source in spec.isolation.volumeSources',
  )
}

/** Throws MappingRefusal of labels of a namespace that would let its pods reach their node. */
export function confinedLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const level = labels[podSecurityLabel]
  if (level === 'restricted') return { ...labels }
  if (level === 'privileged') refuse([`label ${podSecurityLabel}=privileged`])
  return { ...labels, [podSecurityLabel]: podSecurityLevel }
}

const allowed = 'have the edge set spec.isolation.allowsHostAccess'

function refuse(fields: readonly string[], remedy = allowed): void {
  if (fields.length === 0) return
  const named = [...new Set(fields)].join(', ')
  throw new MappingRefusal(
    `it reaches the machine of its node, or disks of others, by ${named}: leave that out, or ${remedy}`,
  )
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** An API server drops fields that are null. */
function setFields(object: JsonObject): string[] {
  return Object.keys(object).filter(
    (field) => object[field] !== null && object[field] !== undefined,
  )
}
