import { keyOfObject, parseKey, resources } from '@skerry/client'
import { watch, type ControllerDefinition } from '@skerry/controller-runtime'
import { isAddressLease, writeAddressLease } from './address-leases.ts'

/** Takes back addresses that a site gave out of ranges which it has no more, so that no node announces them. */
export function addressLeaseCleaner(): ControllerDefinition {
  return {
    name: 'service-address-cleaner',
    workers: 1,
    watches: [
      watch(resources.leases, {
        keysOf: ({ type, object }) =>
          type !== 'deleted' && isAddressLease(object) ? [keyOfObject(object)] : [],
      }),
    ],
    async reconcile(key, context, signal) {
      const lease = context.informer(resources.leases).get(parseKey(key))
      await writeAddressLease(lease, undefined, context, signal)
    },
  }
}
