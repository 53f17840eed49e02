import { equalJson, isStatusError } from '@skerry/api'
import { keyOfObject, parseKey, type TypedResource } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import {
  bindingConditions,
  clusterResourceBindingResource,
  resourceBindingResource,
  type ResourceBinding,
} from '@skerry/karmada-kinds'
import { clusterResource, conditionOf } from '@skerry/fleet-kinds'
import { isAffected, mattersToPlacement } from './affected-bindings.ts'
import { needsPlacement, placementAnnotation } from './needs-placement.ts'
import { placeBinding, placedMessage } from './place-binding.ts'
import { placedStatus } from './placed-status.ts'
import type { PlacementResult } from './placement-input.ts'
import { recordPlacement, reportFailures } from './placement-report.ts'
import { rebalancerController } from './rebalancer-controller.ts'

export interface FleetSchedulerOptions {
  /** Bindings that name another scheduler are left alone; default Karmada's. */
  readonly schedulerName?: string
  /** Whether a workload of no replicas is propagated; default no, as upstream. */
  readonly placesEmptyWorkloads?: boolean
}

const schedulerNameDefault = 'default-scheduler'

/** What did not fit for want of room is tried again after this, and a little more, by chance. */
const roomRetryMs = 30_000

/** Then the whole binding is looked at again. */
const statusTriesMax = 5

/** Decides for each binding which clusters its object goes to, and when to decide anew. */
export function createFleetScheduler(options: FleetSchedulerOptions = {}): ControllerDefinition[] {
  return [
    bindingScheduler('fleet-scheduler', resourceBindingResource, options),
    bindingScheduler('fleet-cluster-scheduler', clusterResourceBindingResource, options),
    rebalancerController,
  ]
}

interface Placing {
  readonly resource: TypedResource<ResourceBinding>
  readonly schedulerName: string
  readonly options: FleetSchedulerOptions
  readonly context: ControllerContext
}

function bindingScheduler(
  name: string,
  resource: TypedResource<ResourceBinding>,
  options: FleetSchedulerOptions,
): ControllerDefinition {
  const schedulerName = options.schedulerName ?? schedulerNameDefault
  return {
    name,
    eventComponent: schedulerName,
    // One at a time: what is placed next sees where this one went.
    workers: 1,
    priorityOf: (key, context) =>
      context.informer(resource).get(parseKey(key))?.spec.schedulePriority?.priority ?? 0,
    watches: [
      watch(resource, {
        keysOf: ({ type, object, old }) =>
          type === 'deleted' || object.metadata.generation === old?.metadata.generation
            ? []
            : [keyOfObject(object)],
      }),
      watch(clusterResource, {
        keysOf: (change, context) =>
          mattersToPlacement(change)
            ? context
                .informer(resource)
                .list()
                .filter((binding) => isAffected(binding, change))
                .map(keyOfObject)
            : [],
      }),
    ],
    async reconcile(key, context, signal) {
      const binding = context.informer(resource).get(parseKey(key))
      if (binding === undefined || !isOurs(binding, schedulerName)) return
      const result = await placeOnce(binding, { resource, schedulerName, options, context }, signal)
      if (result === undefined || ['Success', 'NoClusterFit'].includes(result.reason)) return
      return { requeueAfterMs: roomRetryMs * (1 + 0.1 * context.random.next()) }
    },
  }
}

function isOurs({ metadata, spec }: ResourceBinding, schedulerName: string): boolean {
  if (metadata.deletionTimestamp !== undefined || spec.suspension?.scheduling === true) return false
  return (spec.schedulerName || schedulerNameDefault) === schedulerName
}

/** Undefined where all may stay as it is. */
async function placeOnce(
  binding: ResourceBinding,
  placing: Placing,
  signal: AbortSignal,
): Promise<PlacementResult | undefined> {
  const { resource, options, context } = placing
  const { spec, status } = binding
  if (spec.placement === undefined) return undefined
  const clusters = context.informer(clusterResource).list()
  const isTold = conditionOf(status?.conditions, bindingConditions.scheduled)?.status === 'True'
  const isPlaced = isTold || (spec.clusters ?? []).length > 0
  if (isPlaced && !needsPlacement(binding, clusters)) {
    await writeStatus(binding, isTold ? undefined : placedAlready(binding), placing, signal)
    return undefined
  }
  const result = placeBinding({
    spec,
    ...(status === undefined ? {} : { status }),
    clusters,
    others: hasGroups(binding) ? context.informer(resource).list(binding.metadata.namespace) : [],
    placesEmptyWorkloads: options.placesEmptyWorkloads === true,
  })
  reportFailures(binding, result, context.events)
  const placed = await writeClusters(binding, result, placing, signal)
  await writeStatus(placed, result, placing, signal)
  const hasMoved = placed !== binding || result.reason !== 'Success'
  if (hasMoved) recordPlacement(placed, result, context.events)
  return result
}

/** Somebody was stopped between placing it and saying so. */
function placedAlready({ spec, status }: ResourceBinding): PlacementResult {
  const affinityName = status?.schedulerObservingAffinityName
  return {
    reason: 'Success',
    message: placedMessage,
    clusters: spec.clusters ?? [],
    ...(affinityName === undefined ? {} : { affinityName }),
    failures: [],
    diagnosis: [],
  }
}

function hasGroups({ metadata, spec }: ResourceBinding): boolean {
  return metadata.namespace !== undefined && spec.workloadAffinityGroups !== undefined
}

/** The binding as it is then; the same one where nothing is to be written. */
async function writeClusters(
  binding: ResourceBinding,
  { clusters }: PlacementResult,
  { resource, context }: Placing,
  signal: AbortSignal,
): Promise<ResourceBinding> {
  if (clusters === undefined) return binding
  const { namespace, name = '', resourceVersion, annotations } = binding.metadata
  const applied = JSON.stringify(binding.spec.placement)
  const isSame =
    annotations?.[placementAnnotation] === applied &&
    equalJson(binding.spec.clusters ?? [], clusters)
  if (isSame) return binding
  const patch = {
    // An eviction may have taken a cluster away meanwhile: then this was decided too early.
    metadata: { resourceVersion, annotations: { [placementAnnotation]: applied } },
    spec: { clusters: clusters.length === 0 ? null : clusters },
  }
  const key = namespace === undefined ? { name } : { namespace, name }
  return context.client(resource).patch({ ...key, type: 'merge', patch }, signal)
}

/** What others say in the same list of conditions is not lost: who has written meanwhile is read again. */
async function writeStatus(
  binding: ResourceBinding,
  result: PlacementResult | undefined,
  { resource, context }: Placing,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name = '', uid } = binding.metadata
  const key = namespace === undefined ? { name } : { namespace, name }
  const client = context.client(resource)
  let known = binding
  for (let left = statusTriesMax; ; left -= 1) {
    const status = placedStatus(known, result, context.clock.now())
    if (status === undefined) return
    const patch = { metadata: { resourceVersion: known.metadata.resourceVersion }, status }
    try {
      await client.patchStatus({ ...key, type: 'merge', patch }, signal)
      return
    } catch (error) {
      if (!isStatusError(error, 'Conflict') || left <= 0) throw error
    }
    const fresh = await client.get(key, signal)
    if (fresh.metadata.uid !== uid) return
    // Of which generation the placement is stays as it was.
    const metadata = { ...binding.metadata, resourceVersion: fresh.metadata.resourceVersion }
    known = { ...binding, metadata, status: fresh.status }
  }
}
