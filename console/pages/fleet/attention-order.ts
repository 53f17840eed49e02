import { byName, clusterStates, type FleetRow } from '../../data/fleet/fleet.ts'

/** Compares two clusters: the worse state first, then the newer trouble, which somebody may be working on. */
export function attentionOrder(a: FleetRow, b: FleetRow): number {
  const byState = clusterStates.indexOf(a.s) - clusterStates.indexOf(b.s)
  return byState || (b.t ?? 0) - (a.t ?? 0) || byName(a.n, b.n)
}
