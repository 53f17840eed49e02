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
  apiTime,
  conditionOf,
  withCondition,
  type ConditionText,
  parentOf,
} from '@skerry/fleet-kinds'
import { clusterMonitorDefaults } from '../limits-table.ts'

/** The hub's knowledge of a cluster's tunnels. */
export interface TunnelState {
  readonly isConnected: boolean
  /** How the last one ended; omitted while one is open or if there never was one. */
  readonly lastEnd?: { readonly reason: string; readonly atMs: number }
}

export interface TunnelStates {
  of(cluster: string): TunnelState
  /** Calls the listener with the cluster whose tunnels changed. */
  onChange(listener: (cluster: string) => void): Disposable
}

export interface ClusterMonitorOptions {
  /** The interval of checks of a virtual cluster, because changes of its parent's tunnel trigger none. */
  readonly periodMs: number
  /** An agent that did not renew its lease for this long is not known to be alive. */
  readonly graceMs: number
  /** The same for one that never renewed it. */
  readonly startupGraceMs: number
  /** The time from the monitor's start within which an agent whose tunnel ended with the hub may return. */
  readonly returnGraceMs: number
  /** Extends that time as long as returning agents come at shorter intervals than this: thousands take longer. */
  readonly returnPauseMs: number
  /** The limit of the extension. */
  readonly returnGraceMsMax: number
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

/** Times of the monotonic clock. */
export interface ReturnTimes {
  /** The time of this monitor's first check. */
  startedMs?: number
  /** The time at which a tunnel last opened. */
  openedMs?: number
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

/**
 * Returns how much longer to wait for agents whose tunnels ended with the last hub, if none comes meanwhile;
 * 0 or less means no longer.
 */
export function returnLeftMs(
  times: ReturnTimes,
  settings: ClusterMonitorOptions,
  nowMs: number,
): number {
  times.startedMs ??= nowMs
  const { startedMs, openedMs = -Infinity } = times
  const pauseEndMs = openedMs + settings.returnPauseMs
  const endMs = Math.min(pauseEndMs, startedMs + settings.returnGraceMsMax)
  return Math.max(endMs, startedMs + settings.returnGraceMs) - nowMs
}

/** The lease as last seen, and when this clock first saw it so. */
interface Heard {
  readonly renewTime: string | undefined
  readonly atMs: number
}

interface Silence {
  readonly ms: number
  readonly hasLease: boolean
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

export interface ConditionsInput {
  readonly conditions: readonly ClusterCondition[]
  /** True if the hub itself checks the cluster: it has no agent that could fall silent, and no tunnel. */
  readonly isPushed: boolean
  readonly silence: Silence
  /** True while agents still return after the start of the hub. */
  readonly areReturning: boolean
  readonly tunnel: TunnelState
  readonly nowMs: number
  readonly settings: ClusterMonitorOptions
}

/** Decides on the conditions. If nothing changes, the result equals the input, in new arrays. */
export function planConditions(input: ConditionsInput): ClusterCondition[] {
  const { nowMs, silence, settings } = input
  if (input.isPushed) {
    return input.conditions.filter(({ type }) => type !== conditionTypes.connected)
  }
  const connected = withCondition(input.conditions, connectedText(input), nowMs)
  const allowedMs = silence.hasLease ? settings.graceMs : settings.startupGraceMs
  const isKnownUnknown = conditionOf(connected, conditionTypes.ready)?.status === 'Unknown'
  if (silence.ms <= allowedMs || isKnownUnknown || mayComeBack(input)) return connected
  const unknown: ConditionText = {
    type: conditionTypes.ready,
    status: 'Unknown',
    reason: 'ClusterStatusUnknown',
    message: `The agent was last heard at ${apiTime(nowMs - silence.ms)}.`,
  }
  return withCondition(connected, unknown, nowMs)
}

/**
 * Returns the milliseconds until time alone may change the result of planConditions, so that thousands of
 * clusters are not checked for nothing. All other inputs are watched; a check in between costs little and
 * makes up for a lost event.
 */
export function nextLookMs(input: ConditionsInput, leftMs: number): number {
  const { silence, settings } = input
  const allowedMs = silence.hasLease ? settings.graceMs : settings.startupGraceMs
  // Silence counts only once it exceeds the allowed time, hence the extra millisecond.
  const silentInMs =
    input.isPushed || silence.ms > allowedMs ? Infinity : allowedMs - silence.ms + 1
  const givenUpInMs = mayComeBack(input) ? leftMs : Infinity
  return Math.max(1, Math.min(silentInMs, givenUpInMs, settings.graceMs))
}

function connectedText(input: ConditionsInput): ConditionText {
  const { tunnel, conditions } = input
  const type = conditionTypes.connected
  if (tunnel.isConnected) {
    return { type, status: 'True', reason: 'TunnelOpen', message: 'The tunnel is open.' }
  }
  const { lastEnd } = tunnel
  if (lastEnd === undefined) return unseenText(conditionOf(conditions, type), input)
  const message = `The last tunnel ended at ${apiTime(lastEnd.atMs)}: ${lastEnd.reason}`
  return { type, status: 'False', reason: 'TunnelClosed', message }
}

/** Reports whether its agent connected before the hub started, while others still return. */
function mayComeBack({ areReturning, tunnel, conditions }: ConditionsInput): boolean {
  if (!areReturning || tunnel.isConnected || tunnel.lastEnd !== undefined) return false
  return conditionOf(conditions, conditionTypes.connected)?.status === 'True'
}

/** Returns the condition of a cluster whose tunnel this hub has not seen since it started. */
function unseenText(
  known: ClusterCondition | undefined,
  { areReturning }: ConditionsInput,
): ConditionText {
  // The condition was the same before: it keeps the last end, or that there was none.
  if (known?.status === 'False') return known
  // Otherwise each agent that returns with all others would cost two writes and an event.
  if (known && areReturning) return known
  const message = 'No agent has connected since the hub started.'
  const reason = known === undefined ? 'NeverConnected' : hubRestarted
  return { type: conditionTypes.connected, status: 'False', reason, message }
}

/** The reason while its tunnel ended with the hub, and its agent may or may not return. */
const hubRestarted = 'HubRestarted'

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
