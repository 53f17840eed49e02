import type { EndpointSlice } from '@skerry/api'
import { keyOfObject, keyText, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { podEndpoints } from './endpoint-plan.ts'
import { hasSelector, podsOfService, servicesOfPod } from './services-of-pod.ts'
import { managedBy, planSlices } from './slice-plan.ts'

const byService = 'endpointslice-by-service'

/** A burst of pod changes (a rollout) becomes one look at the service. */
const settleMs = 50

/** Keeps the EndpointSlices of every service with a selector. */
export const endpointSliceController: ControllerDefinition = {
  name: 'endpointslice-controller',
  eventComponent: 'endpoint-slice-controller',
  watches: [
    watch(resources.services, { keysOf: ({ object }) => [keyOfObject(object)] }),
    watch(resources.pods, { keysOf: servicesOfPod, delayMs: settleMs }),
    watch(resources.endpointSlices, {
      keysOf: ({ object }) => serviceOf(object),
      indexes: { [byService]: serviceOf },
    }),
    watch(resources.nodes, { keysOf: () => [] }),
  ],
  reconcile,
}

function serviceOf(slice: EndpointSlice): string[] {
  const name = slice.metadata.labels?.['kubernetes.io/service-name']
  const isOurs = slice.metadata.labels?.['endpointslice.kubernetes.io/managed-by'] === managedBy
  return name === undefined || !isOurs
    ? []
    : [keyText({ namespace: slice.metadata.namespace, name })]
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const service = context.informer(resources.services).get(parseKey(key))
  const existing = context.informer(resources.endpointSlices).byIndex(byService, key)
  const slices = context.client(resources.endpointSlices)
  const remove = async (slice: EndpointSlice): Promise<void> => {
    await slices.delete(
      { namespace: slice.metadata.namespace, name: slice.metadata.name ?? '' },
      signal,
    )
  }
  // A service that is gone takes its slices with it through the garbage collector.
  if (service === undefined || service.metadata.deletionTimestamp !== undefined) return
  if (!hasSelector(service)) {
    for (const slice of existing) await remove(slice)
    return
  }
  const nodes = context.informer(resources.nodes)
  const wanted = podEndpoints(service, podsOfService(service, context), (name) =>
    nodes.get({ name }),
  )
  const plan = planSlices(service, wanted, existing)
  for (const slice of plan.create) await slices.create(slice, signal)
  for (const slice of plan.update) await slices.update(slice, signal)
  for (const slice of plan.remove) await remove(slice)
}
