import { equalJson } from '@skerry/api'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import {
  bindingName,
  clusterResourceBindingResource,
  resourceBindingResource,
  workloadRebalancerResource,
  type ObservedWorkload,
  type RebalancedWorkload,
  type WorkloadRebalancer,
} from '@skerry/karmada-kinds'
import { apiTime } from '@skerry/fleet-kinds'

/** Triggers a new placement of the listed workloads, and reports for each whether it was found. */
export const rebalancerController: ControllerDefinition = {
  name: 'workload-rebalancer',
  watches: [
    watch(workloadRebalancerResource, {
      keysOf: ({ type, object, old }) =>
        type === 'deleted' || (type === 'updated' && equalJson(object.spec, old.spec))
          ? []
          : [object.metadata.name ?? ''],
    }),
    // These watches only ensure that all bindings are known before the first reconcile.
    watch(resourceBindingResource, { keysOf: () => [] }),
    watch(clusterResourceBindingResource, { keysOf: () => [] }),
  ],
  async reconcile(name, context, signal) {
    const rebalancer = context.informer(workloadRebalancerResource).get({ name })
    if (rebalancer === undefined) return
    const observed = observedWorkloads(rebalancer)
    const asked = rebalancer.metadata.creationTimestamp ?? ''
    const done: ObservedWorkload[] = []
    for (const each of observed) done.push(await rebalance(each, { asked, context }, signal))
    const finished = await writeStatus(rebalancer, done, context, signal)
    return await removeInTime(rebalancer, finished, context, signal)
  },
}

/** Lists the workloads of the spec, and those that were placed again before they left it, by name. */
function observedWorkloads({ spec, status }: WorkloadRebalancer): ObservedWorkload[] {
  const known = status?.observedWorkloads ?? []
  const isWanted = ({ workload }: ObservedWorkload): boolean =>
    spec.workloads.some((each) => equalJson(each, workload))
  const kept = known.filter((each) => isWanted(each) || each.result === 'Successful')
  const added = spec.workloads
    .filter((workload) => !kept.some((each) => equalJson(each.workload, workload)))
    .map((workload) => ({ workload }))
  return [...kept, ...added].toSorted((one, other) =>
    textOf(one.workload) < textOf(other.workload) ? -1 : 1,
  )
}

function textOf({ apiVersion, kind, namespace = '', name }: RebalancedWorkload): string {
  return `${apiVersion} ${kind} ${namespace} ${name}`
}

/** A workload is asked for once; a wish that is older than the last one is met already. */
async function rebalance(
  observed: ObservedWorkload,
  { asked, context }: { asked: string; context: ControllerContext },
  signal: AbortSignal,
): Promise<ObservedWorkload> {
  if (observed.result !== undefined) return observed
  const { workload } = observed
  const { kind, name, namespace } = workload
  const resource = namespace ? resourceBindingResource : clusterResourceBindingResource
  const key = { name: bindingName(kind, name), ...(namespace ? { namespace } : {}) }
  const binding = context.informer(resource).get(key)
  if (binding === undefined) {
    return { workload, result: 'Failed', reason: 'ReferencedBindingNotFound' }
  }
  const { rescheduleTriggeredAt } = binding.spec
  if (
    rescheduleTriggeredAt === undefined ||
    Date.parse(asked) > Date.parse(rescheduleTriggeredAt)
  ) {
    const patch = { spec: { rescheduleTriggeredAt: asked } }
    await context.client(resource).patch({ ...key, type: 'merge', patch }, signal)
  }
  return { workload, result: 'Successful' }
}

/** Answers when it was finished. */
async function writeStatus(
  { metadata, status = {} }: WorkloadRebalancer,
  observed: readonly ObservedWorkload[],
  context: ControllerContext,
  signal: AbortSignal,
): Promise<string> {
  const { name = '', generation } = metadata
  const isSame =
    equalJson(status.observedWorkloads ?? [], observed) && status.observedGeneration === generation
  if (isSame && status.finishTime !== undefined) return status.finishTime
  const finishTime = apiTime(context.clock.now())
  const patch = {
    status: { observedWorkloads: observed, observedGeneration: generation, finishTime },
  }
  const client = context.client(workloadRebalancerResource)
  await client.patchStatus({ name, type: 'merge', patch }, signal)
  return finishTime
}

async function removeInTime(
  { metadata, spec }: WorkloadRebalancer,
  finishTime: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const { ttlSecondsAfterFinished } = spec
  if (ttlSecondsAfterFinished === undefined) return undefined
  const leftMs = Date.parse(finishTime) + ttlSecondsAfterFinished * 1000 - context.clock.now()
  if (leftMs > 0) return { requeueAfterMs: leftMs }
  const { name = '' } = metadata
  await context.client(workloadRebalancerResource).delete({ name }, signal)
  return undefined
}
