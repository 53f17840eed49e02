import { podReferences, type KubeObject, type Pod } from '@skerry/api'
import type { Logger } from '@skerry/base'
import type { ServiceAccountToken } from '../volumes/volume.ts'
import { ObjectDisk } from './object-disk.ts'
import { objectsToRead, referenceKey } from './objects-to-read.ts'
import { storeDirectory } from './stored-node.ts'

/** A pod on a node's disk, and the parts that it needs to start again without the control plane. */
export interface HeldPod {
  readonly pod: Pod
  /** The objects that it needs and that the disk lacks, e.g. `configMaps/shop/settings`. */
  readonly missing: readonly string[]
  /** The earliest end of its tokens, in milliseconds since the Unix epoch. Undefined if it holds none. */
  readonly tokenEndsMs: number | undefined
}

/** Reads the pods that a kubelet would run without its control plane. The kubelet may run meanwhile. */
export async function readHeldPods(dataDirectory: string, log: Logger): Promise<HeldPod[]> {
  const disk = new ObjectDisk(storeDirectory(dataDirectory), log)
  const held = new Set<string>()
  for (const kind of ['configMaps', 'secrets', 'persistentVolumeClaims'] as const) {
    for (const key of (await disk.load(kind)).keys()) held.add(`${kind}/${key}`)
  }
  const tokens = await disk.load<KubeObject & { token: ServiceAccountToken }>('tokens')
  const pods = await disk.load<Pod>('pods')
  return [...pods.values()].map((pod) => {
    const ends = [...tokens]
      .filter(([key]) => key.startsWith(`${pod.metadata.uid}/`))
      .map(([, { token }]) => token.expiresAtMs)
    return {
      pod,
      missing: neededBy(pod).filter((key) => !held.has(key)),
      tokenEndsMs: ends.length === 0 ? undefined : Math.min(...ends),
    }
  })
}

/** Returns the keys of the objects without which the pod does not start. */
function neededBy(pod: Pod): string[] {
  const needed = new Set(
    podReferences(pod)
      .filter(({ via, path }) => via !== 'imagePullSecrets' && !isOptional(pod, path))
      .map(({ namespace, name }) => `${namespace}/${name}`),
  )
  return objectsToRead(pod)
    .filter(({ namespace, name }) => needed.has(`${namespace}/${name}`))
    .map(referenceKey)
}

/** Tells whether the part of the pod that has this field says that its object may be missing. */
function isOptional(pod: Pod, path: string): boolean {
  let part: unknown = pod
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '')
  for (const step of steps.slice(0, -1)) {
    part = typeof part === 'object' && part !== null ? Reflect.get(part, step) : undefined
  }
  return typeof part === 'object' && part !== null && Reflect.get(part, 'optional') === true
}
