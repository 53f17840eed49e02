import { quantityToNumber, type Container, type Pod } from '@skerry/api'
import { specOf } from '../pod/pod-spec.ts'

/** The bytes that a pod takes on the node's disk. */
export interface StorageUse {
  /** The bytes of each emptyDir on the disk, by the volume's name. */
  readonly volumes: ReadonlyMap<string, number>
  /** The bytes of each container's writable layer and logs. */
  readonly containers: ReadonlyMap<string, number>
}

/** Returns the names of the emptyDirs that are directories on the disk. */
export function diskVolumesOf(pod: Pod): string[] {
  return (specOf(pod).volumes ?? [])
    .filter(({ emptyDir }) => emptyDir !== undefined && (emptyDir.medium ?? '') === '')
    .map(({ name }) => name)
}

/** Returns false for a pod that bounds nothing, so that nobody has to measure it. */
export function hasStorageLimits(pod: Pod): boolean {
  const { volumes = [], containers, initContainers = [] } = specOf(pod)
  return (
    volumes.some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined && !emptyDir.medium) ||
    [...containers, ...initContainers].some((container) => limitOf(container) !== undefined)
  )
}

/**
 * Returns why a pod has to go that takes more of the disk than it may, in upstream's words and order: an emptyDir above its
 * sizeLimit, then the pod above the limits of its containers, then a container above its own.
 */
export function storageExcess(pod: Pod, use: StorageUse): string | undefined {
  return volumeExcess(pod, use) ?? podExcess(pod, use) ?? containerExcess(pod, use)
}

function volumeExcess(pod: Pod, { volumes: used }: StorageUse): string | undefined {
  for (const { name, emptyDir } of specOf(pod).volumes ?? []) {
    const limit = emptyDir?.sizeLimit
    // A limit of 0 is none, as upstream reads it.
    if (limit === undefined || quantityToNumber(limit) === 0) continue
    if ((used.get(name) ?? 0) > quantityToNumber(limit)) {
      return `Usage of EmptyDir volume "${name}" exceeds the limit "${limit}". `
    }
  }
  return undefined
}

function podExcess(pod: Pod, { volumes, containers }: StorageUse): string | undefined {
  const limit = podLimit(pod)
  if (limit === undefined) return undefined
  const used = [...volumes.values(), ...containers.values()].reduce((all, one) => all + one, 0)
  if (used <= limit.bytes) return undefined
  return `Pod ephemeral local storage usage exceeds the total limit of containers ${limit.text}. `
}

function containerExcess(pod: Pod, { containers: used }: StorageUse): string | undefined {
  const { containers, initContainers = [] } = specOf(pod)
  for (const container of [...containers, ...initContainers]) {
    const limit = limitOf(container)
    if (limit === undefined || (used.get(container.name) ?? 0) <= quantityToNumber(limit)) continue
    return `Container ${container.name} exceeded its local ephemeral storage limit "${limit}". `
  }
  return undefined
}

interface PodLimit {
  readonly bytes: number
  readonly text: string
}

/**
 * Returns the sum of the limits of containers and sidecars, or that of the largest init container with the sidecars before it;
 * undefined if none has one. Containers without a limit count as 0, as upstream does it.
 */
function podLimit(pod: Pod): PodLimit | undefined {
  const { containers, initContainers = [] } = specOf(pod)
  if ([...containers, ...initContainers].every((one) => limitOf(one) === undefined)) {
    return undefined
  }
  const bytesOf = (container: Container): number => quantityToNumber(limitOf(container) ?? '0')
  let sidecars = 0
  let largest = 0
  for (const container of initContainers) {
    if (container.restartPolicy === 'Always') sidecars += bytesOf(container)
    else largest = Math.max(largest, sidecars + bytesOf(container))
  }
  const running = containers.reduce((all, one) => all + bytesOf(one), sidecars)
  const bytes = Math.max(running, largest)
  const only = containers.length === 1 && initContainers.length === 0 ? containers[0] : undefined
  return { bytes, text: (only && limitOf(only)) ?? String(bytes) }
}

function limitOf({ resources }: Container): string | undefined {
  return resources?.limits?.['ephemeral-storage']
}
