import {
  dropFinalizer,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import type { ReportedRound } from '@skerry/cluster-agent'
import {
  withCondition,
  type ConditionText,
  virtualClusterFinalizer,
  virtualClusterResource,
  virtualConditions,
  type VirtualCluster,
  type VirtualClusterStatus,
} from '@skerry/fleet-kinds'
import type { GroupState } from './group-state.ts'
import type { PlannedGroup } from './plan-groups.ts'
import { virtualConditionTexts, type ToldRound } from './virtual-condition-texts.ts'
import { virtualClusterBounds } from '../limits-table.ts'

const { leavingCheckMs, retryMsMax } = virtualClusterBounds.virtualClusterController

/** The tasks that the controller starts and ends for each virtual cluster. */
export interface VirtualClusterTasks {
  /** How the control plane's administrator allows virtual clusters, as the end of a sentence. */
  readonly howToAllow: string
  /** Registers it, reports it and applies its Works from now on; the same again changes nothing. */
  ensure(clusterName: string, virtualCluster: VirtualCluster): Promise<void>
  /** The last round that was reported of it. */
  roundOf(clusterName: string): ReportedRound | undefined
  /** Calls the listener with the name of a virtual cluster whose round reports something new. */
  onRound(listener: (clusterName: string) => void): Disposable
  /**
   * Ends and removes everything of the virtual cluster. Resolves with what it still waits for, or undefined
   * when nothing is left.
   */
  retire(
    clusterName: string,
    virtualCluster: VirtualCluster,
    signal: AbortSignal,
  ): Promise<string | undefined>
}

/**
 * Registers each VirtualCluster as a Cluster on the hub, and removes it from the hub and the edge when it is
 * deleted.
 */
export function virtualClusterController(
  state: GroupState,
  tasks: VirtualClusterTasks,
): ControllerDefinition {
  return {
    name: 'virtual-cluster-controller',
    queue: { maxDelayMs: retryMsMax },
    watches: [
      watch(virtualClusterResource, {
        keysOf: ({ type, object }) => (type === 'deleted' ? [] : [object.metadata.name ?? '']),
      }),
      {
        resource: virtualClusterResource,
        subscribe(context, enqueue) {
          const informer = context.informer(virtualClusterResource)
          const ofAll = (): void => {
            for (const { metadata } of informer.list()) enqueue(metadata.name ?? '')
          }
          const stack = new DisposableStack()
          stack.use(state.onChange(ofAll))
          stack.use(
            tasks.onRound((clusterName) => {
              for (const [name, planned] of state.plan().groups) {
                if (planned.clusterName === clusterName) enqueue(name)
              }
            }),
          )
          return stack
        },
      },
    ],
    async reconcile(name, context, signal) {
      const found = context.informer(virtualClusterResource).get({ name })
      if (found === undefined || !state.isKnown()) return
      if (found.metadata.deletionTimestamp) return leave(found, { tasks, context }, signal)
      const planned = state.planned(name)
      if (planned === undefined) return
      return join(found, planned, { tasks, context }, signal)
    },
  }
}

interface Acting {
  readonly tasks: VirtualClusterTasks
  readonly context: ControllerContext
}

async function join(
  found: VirtualCluster,
  planned: PlannedGroup,
  { tasks, context }: Acting,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const known = found.status?.clusterName
  if (planned.isRefused) {
    const status =
      known === undefined
        ? refusedStatus(planned, found, context)
        : toldStatus({ found, planned, clusterName: known }, { tasks, context })
    return writeStatus(found, status, context, signal)
  }
  const wanted = planned.clusterName
  if (known !== undefined && known !== wanted) {
    const waitsFor = await tasks.retire(known, found, signal)
    if (waitsFor !== undefined) return { requeueAfterMs: leavingCheckMs }
  }
  const held = await withFinalizer(found, context, signal)
  const status = toldStatus({ found: held, planned, clusterName: wanted }, { tasks, context })
  // The name is written first, so that everything created under it can be deleted again.
  await writeStatus(held, status, context, signal)
  await tasks.ensure(wanted, held)
}

/** Returns the status of an existing VirtualCluster, under its registered name. */
function toldStatus(
  of: { found: VirtualCluster; planned: PlannedGroup; clusterName: string },
  { tasks, context }: Acting,
): VirtualClusterStatus {
  const { found, planned, clusterName } = of
  const told = { round: tasks.roundOf(clusterName), howToAllow: tasks.howToAllow }
  return statusOf(planned, { clusterName, conditions: joinedConditions(found, told, context) })
}

async function leave(
  found: VirtualCluster,
  { tasks, context }: Acting,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const { name = '', finalizers = [] } = found.metadata
  if (!finalizers.includes(virtualClusterFinalizer)) return
  const { clusterName } = found.status ?? {}
  if (clusterName !== undefined) {
    const waitsFor = await tasks.retire(clusterName, found, signal)
    if (waitsFor !== undefined) {
      context.log.debug('Virtual cluster is leaving', { name, waitsFor })
      return { requeueAfterMs: leavingCheckMs }
    }
  }
  const resource = virtualClusterResource
  await dropFinalizer(
    { object: found, resource, finalizer: virtualClusterFinalizer },
    context,
    signal,
  )
  context.log.info('Virtual cluster has left', { name, cluster: clusterName ?? '' })
}

async function withFinalizer(
  found: VirtualCluster,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<VirtualCluster> {
  const { name = '', finalizers = [], resourceVersion } = found.metadata
  if (finalizers.includes(virtualClusterFinalizer)) return found
  const patch = {
    metadata: { finalizers: [...finalizers, virtualClusterFinalizer], resourceVersion },
  }
  return context.client(virtualClusterResource).patch({ name, type: 'merge', patch }, signal)
}

function statusOf(
  { nodes, problems }: PlannedGroup,
  rest: Pick<VirtualClusterStatus, 'clusterName' | 'conditions'>,
): VirtualClusterStatus {
  return {
    ...rest,
    nodes: { ...nodes },
    ...(problems.length > 0 ? { problems: [...problems] } : {}),
  }
}

function refusedStatus(
  planned: PlannedGroup,
  { status }: VirtualCluster,
  { clock }: ControllerContext,
): VirtualClusterStatus {
  const text: ConditionText = {
    type: virtualConditions.registered,
    status: 'False',
    reason: 'Refused',
    message: planned.problems[0] ?? '',
  }
  const others = (status?.conditions ?? []).filter(({ type }) => type !== virtualConditions.ready)
  return statusOf(planned, { conditions: withCondition(others, text, clock.now()) })
}

function joinedConditions(
  { status }: VirtualCluster,
  told: ToldRound,
  { clock }: ControllerContext,
) {
  const known = status?.conditions ?? []
  const texts = virtualConditionTexts(known, told)
  return texts.reduce((list, text) => withCondition(list, text, clock.now()), known)
}

async function writeStatus(
  found: VirtualCluster,
  status: VirtualClusterStatus,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  if (JSON.stringify(status) === JSON.stringify(found.status ?? {})) return
  const { status: _before, ...rest } = found
  await context.client(virtualClusterResource).updateStatus({ ...rest, status }, signal)
}
