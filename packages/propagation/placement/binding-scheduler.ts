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
import { propagationBounds } from '../limits-table.ts'

export interface FleetSchedulerOptions {
  /** The name of the scheduler; bindings that name another one are ignored. Default: Karmada's. */
  readonly schedulerName?: string
  /** Whether a workload with zero replicas is propagated; default no, as upstream. */
  readonly placesEmptyWorkloads?: boolean
}

const schedulerNameDefault = 'default-scheduler'

const { roomRetryMs, statusTriesMax } = propagationBounds.bindingScheduler

/** Decides for each binding to which clusters its object goes, and when to decide again. */
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
    // One worker, so that each placement sees the previous ones.
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

/** Resolves undefined if nothing needs to change. */
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

/** Restores a placement that was stopped between writing the clusters and the status. */
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

/** Resolves with the written binding, or with the same one if nothing needs to be written. */
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

/** Keeps the conditions of other writers: after a conflict the binding is read again. */
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
    // The generation of the placed binding stays, because this placement is for it.
    const metadata = { ...binding.metadata, resourceVersion: fresh.metadata.resourceVersion }
    known = { ...binding, metadata, status: fresh.status }
  }
}
