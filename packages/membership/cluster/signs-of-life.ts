import type { Lease } from '@skerry/api'
import type { ClusterMonitorOptions, Silence } from './plan-conditions.ts'

/** The signs of life of an agent so far. Times are monotonic, by the clock of the hub. */
export interface Heard {
  /** The lease as last seen, and when it was first seen so. */
  readonly renewTime: string | undefined
  readonly renewedMs: number
  /** Whether its open tunnel was a sign of life at the last look, and when that was so last. */
  readonly isPresent: boolean
  readonly presentMs: number
}

export interface Signs {
  readonly lease: Lease | undefined
  /** Whether its tunnel is open. */
  readonly isConnected: boolean
  readonly nowMs: number
}

/**
 * Notes the signs of life of an agent. One whose lease lasts longer than the grace renews it seldom: until the lease runs out,
 * its open tunnel is the sign. Call it at each change of the lease or the tunnel.
 */
export function hear(
  known: Heard | undefined,
  { lease, isConnected, nowMs }: Signs,
  settings: Pick<ClusterMonitorOptions, 'graceMs'>,
): Heard {
  const renewTime = lease?.spec?.renewTime
  const renewedMs = known && known.renewTime === renewTime ? known.renewedMs : nowMs
  const lasts = nowMs - renewedMs <= lastsMs(lease)
  const isPresent = isConnected && lasts && countsOnTunnel(lease, settings)
  // A tunnel that has ended since the last look was open until now: its end is the reason for this one.
  const isOrWas = isPresent || known?.isPresent === true
  return {
    renewTime,
    renewedMs,
    isPresent,
    presentMs: isOrWas ? nowMs : (known?.presentMs ?? -Infinity),
  }
}

/** Returns for how long nothing was heard of it. */
export function silenceOf(
  { renewedMs, presentMs }: Heard,
  { lease, nowMs }: Pick<Signs, 'lease' | 'nowMs'>,
): Silence {
  return { ms: nowMs - Math.max(renewedMs, presentMs), hasLease: lease !== undefined }
}

export function countsOnTunnel(
  lease: Lease | undefined,
  { graceMs }: Pick<ClusterMonitorOptions, 'graceMs'>,
): boolean {
  return lastsMs(lease) > graceMs
}

function lastsMs(lease: Lease | undefined): number {
  return (lease?.spec?.leaseDurationSeconds ?? 0) * 1_000
}
