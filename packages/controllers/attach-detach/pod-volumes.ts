import type { PersistentVolume, Pod } from '@skerry/api'
import { resources } from '@skerry/client'
import { controllerOf, type ControllerContext } from '@skerry/controller-runtime'
import { isPodFinished } from '../pods/pod-state.ts'

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]

/** Returns `namespace/name` of each claim that the pod mounts. */
export function claimKeysOf(pod: Pod): string[] {
  const { namespace } = pod.metadata
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    const name = claimNameOf(pod, volume)
    return name === undefined ? [] : [`${namespace}/${name}`]
  })
}

function claimNameOf(pod: Pod, volume: Volume): string | undefined {
  if (volume.ephemeral !== undefined) return `${pod.metadata.name}-${volume.name}`
  return volume.persistentVolumeClaim?.claimName
}

/** Returns true if the pod has a node, and parts of it may run there. */
export function holdsVolumes(pod: Pod): boolean {
  if ((pod.spec?.nodeName ?? '') === '' || isPodFinished(pod)) return false
  if (pod.metadata.deletionTimestamp === undefined) return true
  return (pod.status?.containerStatuses ?? []).some(
    ({ state }) => state?.terminated === undefined && state?.waiting === undefined,
  )
}

/** Returns the volumes that are bound to claims of the pod. */
export function boundVolumes(pod: Pod, context: ControllerContext): PersistentVolume[] {
  const { namespace } = pod.metadata
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    const name = claimNameOf(pod, volume)
    if (name === undefined) return []
    const claim = context.informer(resources.persistentVolumeClaims).get({ namespace, name })
    const volumeName = claim?.spec?.volumeName ?? ''
    if (claim?.status?.phase !== 'Bound' || volumeName === '') return []
    const isForeign = controllerOf(claim)?.uid !== pod.metadata.uid
    if (volume.ephemeral !== undefined && isForeign) return []
    const found = context.informer(resources.persistentVolumes).get({ name: volumeName })
    if (found === undefined || found.spec?.claimRef?.uid !== claim.metadata.uid) return []
    return [found]
  })
}
