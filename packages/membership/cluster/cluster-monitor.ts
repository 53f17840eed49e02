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
  type ReturnTimes,
  returnLeftMs,
  type ConditionsInput,
  planConditions,
  nextLookMs,
  hubRestarted,
} from './plan-conditions.ts'
import { countsOnTunnel, hear, silenceOf, type Heard } from './signs-of-life.ts'
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
      const parent = parentOf(cluster)
      const tunnel = tunnels.of(parent ?? name)
      const signs = { lease, isConnected: tunnel.isConnected, nowMs: monotonicMs }
      const known = hear(heard.get(name), signs, settings)
      heard.set(name, known)
      const silence = silenceOf(known, signs)
      const leftMs = returnLeftMs(times, settings, monotonicMs)
      const input: ConditionsInput = {
        conditions: cluster.status?.conditions ?? [],
        isPushed: cluster.spec.syncMode === 'Push',
        silence,
        areReturning: leftMs > 0,
        tunnel,
        nowMs: context.clock.now(),
        settings,
      }
      const conditions = planConditions(input)
      const isLost = readyOf(conditions) === 'Unknown' && readyOf(input.conditions) !== 'Unknown'
      if (isLost && lease && countsOnTunnel(lease, settings)) {
        const heardAtMs = context.clock.now() - silence.ms
        const shortened = await shorten(lease, { heardAtMs, settings }, context, signal)
        heard.set(name, { ...known, ...shortened, renewedMs: monotonicMs - silence.ms })
      }
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

/** Makes the lease of a silent agent say when it was heard last, for those who judge by leases alone. */
async function shorten(
  { metadata: { namespace = '', name = '' } }: Lease,
  { heardAtMs, settings }: { heardAtMs: number; settings: ClusterMonitorOptions },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Pick<Heard, 'renewTime'>> {
  const spec = {
    leaseDurationSeconds: Math.ceil(settings.graceMs / 1_000),
    renewTime: new Date(heardAtMs).toISOString().replace('Z', '000Z'),
  }
  const leases = context.client(resources.leases)
  const { spec: written } = await leases.patch(
    { namespace, name, type: 'merge', patch: { spec } },
    signal,
  )
  return { renewTime: written?.renewTime }
}

function readyOf(conditions: readonly ClusterCondition[]): string | undefined {
  return conditionOf(conditions, conditionTypes.ready)?.status
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
