import { isStatusError, type KubeObject, type PersistentVolumeClaim, type Pod } from '@skerry/api'
import { keyOfObject, keyText, parseKey, resources, type ResourceClient } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { isPodFinished } from '../pods/pod-state.ts'

const claimFinalizer = 'kubernetes.io/pvc-protection'
const volumeFinalizer = 'kubernetes.io/pv-protection'

/** A claim that a pod uses is not removed before that pod. */
export const claimProtectionController: ControllerDefinition = {
  name: 'persistentvolumeclaim-protection-controller',
  watches: [
    watch(resources.persistentVolumeClaims, {
      keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
    }),
    watch(resources.pods, {
      keysOf: ({ type, object }) =>
        type === 'deleted' || isPodFinished(object) ? claimsOf(object) : [],
    }),
  ],
  async reconcile(key, context, signal) {
    const claim = context.informer(resources.persistentVolumeClaims).get(parseKey(key))
    if (claim === undefined || !isLeaving(claim, claimFinalizer) || isUsed(claim, context)) return
    await dropFinalizer(
      claim,
      { client: context.client(resources.persistentVolumeClaims), finalizer: claimFinalizer },
      signal,
    )
  },
}

/** A volume that is bound is not removed before its claim. */
export const volumeProtectionController: ControllerDefinition = {
  name: 'persistentvolume-protection-controller',
  watches: [
    watch(resources.persistentVolumes, {
      keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
    }),
  ],
  async reconcile(key, context, signal) {
    const volume = context.informer(resources.persistentVolumes).get(parseKey(key))
    if (
      volume === undefined ||
      !isLeaving(volume, volumeFinalizer) ||
      volume.status?.phase === 'Bound'
    )
      return
    await dropFinalizer(
      volume,
      { client: context.client(resources.persistentVolumes), finalizer: volumeFinalizer },
      signal,
    )
  },
}

function claimsOf(pod: Pod): string[] {
  const { namespace } = pod.metadata
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    const name = volume.persistentVolumeClaim?.claimName
    return name === undefined ? [] : [keyText({ namespace, name })]
  })
}

function isLeaving(object: KubeObject, finalizer: string): boolean {
  return (
    object.metadata.deletionTimestamp !== undefined &&
    (object.metadata.finalizers ?? []).includes(finalizer)
  )
}

/** A pod that no node has taken holds nothing yet. */
function isUsed(claim: PersistentVolumeClaim, context: ControllerContext): boolean {
  const key = keyOfObject(claim)
  return context
    .informer(resources.pods)
    .list(claim.metadata.namespace)
    .some(
      (pod) => !isPodFinished(pod) && Boolean(pod.spec?.nodeName) && claimsOf(pod).includes(key),
    )
}

async function dropFinalizer<T extends KubeObject>(
  object: T,
  { client, finalizer }: { client: ResourceClient<T>; finalizer: string },
  signal: AbortSignal,
): Promise<void> {
  const finalizers = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer)
  try {
    await client.update({ ...object, metadata: { ...object.metadata, finalizers } }, signal)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
}
