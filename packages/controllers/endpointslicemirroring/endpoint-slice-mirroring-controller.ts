import type { EndpointSlice, Endpoints } from '@skerry/api'
import { keyOfObject, keyText, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { mirroredBy, planMirror, type MirrorPlan } from './mirror-plan.ts'

const byEndpoints = 'mirrored-slice-by-endpoints'

/** Mirrors Endpoints that users write for a service without a selector as EndpointSlices. */
export const endpointSliceMirroringController: ControllerDefinition = {
  name: 'endpointslice-mirroring-controller',
  eventComponent: 'endpoint-slice-mirroring-controller',
  watches: [
    watch(resources.endpoints, { keysOf: ({ object }) => [keyOfObject(object)] }),
    watch(resources.services, {
      keysOf: ({ object, old }) =>
        (old ?? object).spec?.selector === undefined || object.spec?.selector === undefined
          ? [keyOfObject(object)]
          : [],
    }),
    watch(resources.endpointSlices, {
      keysOf: ({ object }) => endpointsOf(object),
      indexes: { [byEndpoints]: endpointsOf },
    }),
  ],
  reconcile,
}

function endpointsOf({ metadata }: EndpointSlice): string[] {
  const name = metadata.labels?.['kubernetes.io/service-name']
  const isOurs = metadata.labels?.['endpointslice.kubernetes.io/managed-by'] === mirroredBy
  return isOurs && name !== undefined ? [keyText({ namespace: metadata.namespace, name })] : []
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const existing = context.informer(resources.endpointSlices).byIndex(byEndpoints, key)
  const endpoints = context.informer(resources.endpoints).get(parseKey(key))
  if (endpoints === undefined || !isMirrored(endpoints, context)) {
    for (const slice of existing) await remove(slice, context, signal)
    return
  }
  const plan = planMirror(endpoints, existing)
  tell(endpoints, plan, context)
  const slices = context.client(resources.endpointSlices)
  if (endpoints.metadata.deletionTimestamp === undefined) {
    for (const slice of plan.create) await slices.create(slice, signal)
  }
  for (const slice of plan.update) await slices.update(slice, signal)
  for (const slice of plan.remove) await remove(slice, context, signal)
}

async function remove(
  { metadata }: EndpointSlice,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name = '' } = metadata
  await ignoreNotFound(context.client(resources.endpointSlices).delete({ namespace, name }, signal))
}

/** Locks of leader election are not mirrored, and with a selector the slices come from the pods. */
function isMirrored({ metadata }: Endpoints, context: ControllerContext): boolean {
  const { name = '', namespace, labels = {}, annotations = {} } = metadata
  if (labels['endpointslice.kubernetes.io/skip-mirror'] === 'true') return false
  if (annotations['control-plane.alpha.kubernetes.io/leader'] !== undefined) return false
  const service = context.informer(resources.services).get({ namespace, name })
  return service !== undefined && service.spec?.selector === undefined
}

function tell(endpoints: Endpoints, plan: MirrorPlan, { events }: ControllerContext): void {
  const { invalidAddresses, skippedAddresses } = plan
  if (invalidAddresses > 0) {
    events.event(endpoints, {
      type: 'Warning',
      reason: 'InvalidIPAddress',
      message: `Skipped ${invalidAddresses} invalid IP addresses when mirroring to EndpointSlices`,
    })
  }
  if (skippedAddresses > invalidAddresses) {
    events.event(endpoints, {
      type: 'Warning',
      reason: 'TooManyAddressesToMirror',
      message: `A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. ${skippedAddresses} addresses were skipped`,
    })
  }
}
