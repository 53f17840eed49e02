import { useMemo } from 'react'
import { useWatched } from '../streams/console-context.tsx'
import { fleetPath, type FleetRow } from './fleet.ts'
import type { ListView } from '../streams/watched-list.ts'

export interface FleetView {
  readonly view: ListView
  readonly rows: readonly FleetRow[]
}

/** Watches the fleet. All pages that show a part of it share one watch. */
export function useFleet(): FleetView {
  const view = useWatched(fleetPath)
  // The hub's own rows, by the contract of the stream.
  const rows = useMemo(() => [...view.items.values()] as FleetRow[], [view])
  return { view, rows }
}

/** Undefined while the fleet loads, and if it has no such cluster that the user may see. */
export function useFleetRow(name: string): { row: FleetRow | undefined; view: ListView } {
  const view = useWatched(fleetPath)
  return { row: view.items.get(name) as FleetRow | undefined, view }
}
