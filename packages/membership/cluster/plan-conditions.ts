import {
  conditionTypes,
  type ClusterCondition,
  apiTime,
  conditionOf,
  withCondition,
  type ConditionText,
} from '@skerry/fleet-kinds'

/** The hub's knowledge of a cluster's tunnels. */
export interface TunnelState {
  readonly isConnected: boolean
  /** How the last one ended; omitted while one is open or if there never was one. */
  readonly lastEnd?: {
    readonly reason: string
    readonly atMs: number
    /** The time for which nothing had been heard by then. If omitted, it is not known. */
    readonly silentMs?: number
  }
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

/** Times of the monotonic clock. */
export interface ReturnTimes {
  /** The time of this monitor's first check. */
  startedMs?: number
  /** The time at which a tunnel last opened. */
  openedMs?: number
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

export interface Silence {
  readonly ms: number
  readonly hasLease: boolean
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
export const hubRestarted = 'HubRestarted'
