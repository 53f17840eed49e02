import type { PersistentVolumeClaim, Pod, Volume } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  controllerOf,
  controllerReference,
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'

/** Creates the claims of generic ephemeral volumes, which are deleted with their pod. */
export const ephemeralVolumeController: ControllerDefinition = {
  name: 'ephemeral-volume-controller',
  eventComponent: 'ephemeral_volume',
  watches: [
    watch(resources.pods, {
      keysOf: ({ type, object }) =>
        type !== 'deleted' && hasEphemeralVolume(object) ? [keyOfObject(object)] : [],
    }),
    watch(resources.persistentVolumeClaims, {
      // Handles a conflicting claim, or one that was deleted too early.
      keysOf: ({ type, object }, context) => (type === 'deleted' ? podsOf(object, context) : []),
    }),
  ],
  async reconcile(key, context, signal) {
    const pod = context.informer(resources.pods).get(parseKey(key))
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return
    for (const volume of pod.spec?.volumes ?? []) {
      if (volume.ephemeral !== undefined) await ensureClaim({ pod, volume }, context, signal)
    }
  },
}

function hasEphemeralVolume({ spec }: Pod): boolean {
  return (spec?.volumes ?? []).some(({ ephemeral }) => ephemeral !== undefined)
}

function podsOf({ metadata }: PersistentVolumeClaim, context: ControllerContext): string[] {
  return context
    .informer(resources.pods)
    .list(metadata.namespace)
    .filter((pod) =>
      (pod.spec?.volumes ?? []).some(
        (volume) => volume.ephemeral !== undefined && claimNameOf(pod, volume) === metadata.name,
      ),
    )
    .map(keyOfObject)
}

function claimNameOf(pod: Pod, volume: Volume): string {
  return `${pod.metadata.name}-${volume.name}`
}

async function ensureClaim(
  { pod, volume }: { pod: Pod; volume: Volume },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { namespace } = pod.metadata
  const name = claimNameOf(pod, volume)
  const existing = context.informer(resources.persistentVolumeClaims).get({ namespace, name })
  if (existing === undefined) {
    const claim = claimOf({ pod, volume, name })
    await context.client(resources.persistentVolumeClaims).create(claim, signal)
    return
  }
  if (controllerOf(existing)?.uid === pod.metadata.uid) return
  const message = `PVC ${namespace}/${name} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`
  context.events.event(pod, {
    type: 'Warning',
    reason: 'FailedBinding',
    message: `ephemeral volume ${volume.name}: ${message}`,
  })
  throw new Error(`Cannot use claim ${namespace}/${name}: it does not belong to the pod`)
}

function claimOf({
  pod,
  volume,
  name,
}: {
  pod: Pod
  volume: Volume
  name: string
}): PersistentVolumeClaim {
  const template = volume.ephemeral?.volumeClaimTemplate
  const { labels, annotations } = template?.metadata ?? {}
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: pod.metadata.namespace,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [controllerReference({ ...pod, apiVersion: 'v1', kind: 'Pod' })],
    },
    ...(template?.spec === undefined ? {} : { spec: template.spec }),
  }
}
