import {
  compareQuantities,
  isStatusError,
  parseQuantity,
  type PersistentVolumeClaim,
} from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import { watch, type ControllerDefinition } from '@skerry/controller-runtime'

/**
 * Handles claims that request more than their volume has. No volume here can grow by itself, so the
 * claim reports that it waits for an external resizer, as upstream without a plugin.
 */
export const volumeExpanderController: ControllerDefinition = {
  name: 'persistentvolume-expander-controller',
  eventComponent: 'volume_expand',
  workers: 1,
  watches: [
    watch(resources.persistentVolumeClaims, {
      keysOf: ({ type, object }) =>
        type === 'updated' && wantsMore(object) ? [keyOfObject(object)] : [],
    }),
  ],
  async reconcile(key, context, signal) {
    const claim = context.informer(resources.persistentVolumeClaims).get(parseKey(key))
    if (claim === undefined || !wantsMore(claim) || claim.status?.phase !== 'Bound') return
    const name = claim.spec?.volumeName ?? ''
    try {
      await context.cluster.resource(resources.persistentVolumes).get({ name }, signal)
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return
      throw error
    }
    context.events.event(claim, {
      type: 'Normal',
      reason: 'ExternalExpanding',
      message: 'waiting for an external controller to expand this PVC',
    })
  },
}

function wantsMore({ spec, status }: PersistentVolumeClaim): boolean {
  const wanted = spec?.resources?.requests?.['storage']
  const held = status?.capacity?.['storage']
  if (wanted === undefined || held === undefined) return false
  return compareQuantities(parseQuantity(wanted), parseQuantity(held)) > 0
}
