import type { KubeObject, PersistentVolumeClaim, Pod } from '@skerry/api'
import { keyOfObject, keyText, parseKey, resources } from '@skerry/client'
import {
  dropFinalizer,
  isControlledBy,
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'

const claimFinalizer = 'kubernetes.io/pvc-protection'
const volumeFinalizer = 'kubernetes.io/pv-protection'

/** Protects a claim from deletion while a pod uses it. */
export const claimProtectionController: ControllerDefinition = {
  name: 'persistentvolumeclaim-protection-controller',
  watches: [
    watch(resources.persistentVolumeClaims, {
      keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
    }),
    watch(resources.pods, {
      keysOf: ({ type, object }) =>
        type === 'deleted' || isShutDown(object) ? claimsOf(object) : [],
    }),
  ],
  async reconcile(key, context, signal) {
    const claim = context.informer(resources.persistentVolumeClaims).get(parseKey(key))
    if (claim === undefined || !isLeaving(claim, claimFinalizer) || isUsed(claim, context)) return
    const resource = resources.persistentVolumeClaims
    await dropFinalizer({ object: claim, resource, finalizer: claimFinalizer }, context, signal)
  },
}

/** Protects a bound volume from deletion before its claim. */
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
    const resource = resources.persistentVolumes
    await dropFinalizer({ object: volume, resource, finalizer: volumeFinalizer }, context, signal)
  },
}

function claimsOf(pod: Pod): string[] {
  const { namespace } = pod.metadata
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    const own = volume.ephemeral === undefined ? undefined : `${pod.metadata.name}-${volume.name}`
    const name = volume.persistentVolumeClaim?.claimName ?? own
    return name === undefined ? [] : [keyText({ namespace, name })]
  })
}

function isLeaving(object: KubeObject, finalizer: string): boolean {
  return (
    object.metadata.deletionTimestamp !== undefined &&
    (object.metadata.finalizers ?? []).includes(finalizer)
  )
}

/** An unscheduled pod holds nothing yet; a finished one holds the claim until it is removed. */
function isUsed(claim: PersistentVolumeClaim, context: ControllerContext): boolean {
  return context
    .informer(resources.pods)
    .list(claim.metadata.namespace)
    .some((pod) => Boolean(pod.spec?.nodeName) && uses(pod, claim))
}

function uses(pod: Pod, claim: PersistentVolumeClaim): boolean {
  const { name } = claim.metadata
  return (pod.spec?.volumes ?? []).some((volume) => {
    if (volume.persistentVolumeClaim?.claimName === name) return true
    const isOwn = volume.ephemeral !== undefined && `${pod.metadata.name}-${volume.name}` === name
    return isOwn && isControlledBy(claim, pod) && !isShutDown(pod)
  })
}

/** Returns true if its node is done with the pod, and a finalizer keeps it. */
function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0
}
