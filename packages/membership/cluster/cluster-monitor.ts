import type { Lease } from '@skerry/api'
import { resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type Watch,
} from '@skerry/controller-runtime'
import {
  clusterNamespace,
  clusterResource,
  conditionTypes,
  type Cluster,
  type ClusterCondition,
  conditionOf,
  parentOf,
} from '@skerry/fleet-kinds'
import {
  type TunnelState,
  type ClusterMonitorOptions,
  type Silence,
  type ReturnTimes,
  returnLeftMs,
  type ConditionsInput,
  planConditions,
  nextLookMs,
  hubRestarted,
} from './plan-conditions.ts'
import { clusterMonitorDefaults } from '../limits-table.ts'

export interface TunnelStates {
  of(cluster: string): TunnelState
  /** Calls the listener with the cluster whose tunnels changed. */
  onChange(listener: (cluster: string) => void): Disposable
}

/**
 * Sets each Cluster's conditions: whether its tunnel is open, and Ready to Unknown if its agent fell silent.
 * Silence is measured on this clock: the agents' clocks need not agree.
 */
export function createClusterMonitor(
  tunnels: TunnelStates,
  options: Partial<ClusterMonitorOptions> = {},
): ControllerDefinition {
  const settings = { ...clusterMonitorDefaults, ...options }
  const heard = new Map<string, Heard>()
  const times: ReturnTimes = {}
  return {
    name: 'cluster-monitor',
    watches: [
      watch(clusterResource, { keysOf: ({ object }) => [object.metadata.name ?? ''] }),
      watch(resources.leases, {
        keysOf: ({ object: { metadata } }) =>
          metadata.namespace === clusterNamespace ? [metadata.name ?? ''] : [],
      }),
      tunnelWatch(tunnels, times),
    ],
    async reconcile(name, context, signal) {
      const cluster = context.informer(clusterResource).get({ name })
      if (cluster === undefined) return void heard.delete(name)
      const lease = context.informer(resources.leases).get({ namespace: clusterNamespace, name })
      const monotonicMs = context.clock.monotonicMs()
      const silence = listen(heard, { name, lease }, monotonicMs)
      const parent = parentOf(cluster)
      const leftMs = returnLeftMs(times, settings, monotonicMs)
      const input: ConditionsInput = {
        conditions: cluster.status?.conditions ?? [],
        isPushed: cluster.spec.syncMode === 'Push',
        silence,
        areReturning: leftMs > 0,
        tunnel: tunnels.of(parent ?? name),
        nowMs: context.clock.now(),
        settings,
      }
      const conditions = planConditions(input)
      await writeConditions(cluster, conditions, context, signal)
      recordChange(cluster, conditions, context)
      const lookMs = nextLookMs(input, leftMs)
      return { requeueAfterMs: parent === undefined ? lookMs : Math.min(lookMs, settings.periodMs) }
    },
  }
}

function tunnelWatch(tunnels: TunnelStates, times: ReturnTimes): Watch {
  return {
    resource: clusterResource,
    subscribe: ({ clock }, enqueue) =>
      tunnels.onChange((cluster) => {
        if (tunnels.of(cluster).isConnected) times.openedMs = clock.monotonicMs()
        enqueue(cluster)
      }),
  }
}

/** The lease as last seen, and when this clock first saw it so. */
interface Heard {
  readonly renewTime: string | undefined
  readonly atMs: number
}

function listen(
  heard: Map<string, Heard>,
  { name, lease }: { name: string; lease: Lease | undefined },
  nowMs: number,
): Silence {
  const renewTime = lease?.spec?.renewTime
  const known = heard.get(name)
  const hasLease = lease !== undefined
  if (known && known.renewTime === renewTime) return { ms: nowMs - known.atMs, hasLease }
  heard.set(name, { renewTime, atMs: nowMs })
  return { ms: 0, hasLease }
}

/** An event for each tunnel that opens as the first, or ends as the last, so that there is a history. */
function recordChange(
  cluster: Cluster,
  conditions: readonly ClusterCondition[],
  { events }: ControllerContext,
): void {
  const before = conditionOf(cluster.status?.conditions, conditionTypes.connected)
  const now = conditionOf(conditions, conditionTypes.connected)
  if (now === undefined || now.status === before?.status) return
  // A restart of the hub is not worth an event for each cluster.
  if (now.reason === hubRestarted || now.reason === 'NeverConnected') return
  const { reason, message } = now
  events.event(cluster, { type: now.status === 'True' ? 'Normal' : 'Warning', reason, message })
}

async function writeConditions(
  cluster: Cluster,
  conditions: ClusterCondition[],
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  if (JSON.stringify(conditions) === JSON.stringify(cluster.status?.conditions ?? [])) return
  const status = { ...cluster.status, conditions }
  await context.client(clusterResource).updateStatus({ ...cluster, status }, signal)
}
