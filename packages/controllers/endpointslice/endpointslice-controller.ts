import type { EndpointSlice, Pod, Service } from '@skerry/api'
import { keyOfObject, keyText, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { isPodFinished } from '../pods/pod-state.ts'
import { podEndpoints } from './endpoint-plan.ts'
import { hasSelector, podsOfService, servicesOfPod, servicesOnNode } from './services-of-pod.ts'
import { managedBy, planSlices } from './slice-plan.ts'
import { TriggerTimes, withTriggerTime } from './trigger-times.ts'
import { controllerBounds } from '../limits-table.ts'

const byService = 'endpointslice-by-service'

const { settleMs } = controllerBounds.endpointsliceController

const allTriggerTimes = new WeakMap<ControllerContext, TriggerTimes>()

/** Maintains the EndpointSlices of every service with a selector. */
export const endpointSliceController: ControllerDefinition = {
  name: 'endpointslice-controller',
  eventComponent: 'endpoint-slice-controller',
  queue: { baseDelayMs: controllerBounds.endpointsliceController.retryMsMin },
  watches: [
    watch(resources.services, { keysOf: ({ object }) => [keyOfObject(object)] }),
    watch(resources.pods, { keysOf: servicesOfPod, delayMs: settleMs }),
    watch(resources.endpointSlices, {
      keysOf: ({ object }) => serviceOf(object),
      indexes: { [byService]: serviceOf },
    }),
    watch(resources.nodes, { keysOf: servicesOnNode }),
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
  const triggerTimes = allTriggerTimes.get(context) ?? new TriggerTimes()
  allTriggerTimes.set(context, triggerTimes)
  // The garbage collector deletes the slices of a deleted service.
  if (service === undefined) return triggerTimes.forget(key)
  // Without a selector its slices belong to another owner from then on.
  if (service.metadata.deletionTimestamp !== undefined || !hasSelector(service)) return
  const nodes = context.informer(resources.nodes)
  const pods = podsOfService(service, context)
  const triggerTime = triggerTimes.next(key, service, pods)
  const { placed, lost } = placedPods(service, pods, (name) => nodes.get({ name }) !== undefined)
  const wanted = podEndpoints(service, placed, (name) => nodes.get({ name }))
  const plan = planSlices(service, wanted, existing)
  const timed = ({ metadata, ...slice }: EndpointSlice): EndpointSlice => {
    const { annotations: old, ...rest } = metadata
    const annotations = withTriggerTime(old, triggerTime)
    return { ...slice, metadata: { ...rest, ...(annotations ? { annotations } : {}) } }
  }
  for (const slice of plan.create) await slices.create(timed(slice), signal)
  for (const slice of plan.update) await slices.update(timed(slice), signal)
  for (const slice of plan.remove) await remove(slice)
  if (lost.length > 0) complainOf({ service, lost }, context)
}

/**
 * A pod on an unknown node is left out until the node exists or the pod is collected, unless the
 * service shows pods whatever their state.
 */
function placedPods(
  { spec }: Service,
  pods: readonly Pod[],
  isKnown: (nodeName: string) => boolean,
): { placed: Pod[]; lost: Pod[] } {
  const isLost = (pod: Pod): boolean =>
    spec?.publishNotReadyAddresses !== true &&
    (pod.status?.podIP ?? '') !== '' &&
    !isPodFinished(pod) &&
    !isKnown(pod.spec?.nodeName ?? '')
  return { placed: pods.filter((pod) => !isLost(pod)), lost: pods.filter(isLost) }
}

/** Throws after reporting, so that the service is reconciled again after a backoff. */
function complainOf(
  { service, lost }: { service: Service; lost: readonly Pod[] },
  context: ControllerContext,
): never {
  const name = keyOfObject(service)
  const texts = lost.map(
    ({ metadata, spec }) =>
      `skipping Pod ${metadata.name} for Service ${name}: Node ${spec?.nodeName ?? ''} Not Found`,
  )
  const text = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
  context.events.event(service, {
    type: 'Warning',
    reason: 'FailedToUpdateEndpointSlices',
    message: `Error updating Endpoint Slices for Service ${name}: ${text}`,
  })
  throw new Error(`Cannot place all pods of service ${name}: ${text}`)
}
