import { useMemo } from 'react'
import { useRetry, useWatched } from '../streams/console-context.tsx'
import { fleetPath, type FleetRow } from './fleet.ts'
import type { ListView } from '../streams/watched-list.ts'

export interface FleetView {
  readonly view: ListView
  readonly rows: readonly FleetRow[]
  /** Asks again after an error. */
  readonly retry: () => void
}

/** Watches the fleet. All pages that show a part of it share one watch. */
export function useFleet(): FleetView {
  const view = useWatched(fleetPath)
  // The hub's own rows, by the contract of the stream.
  const rows = useMemo(() => [...view.items.values()] as FleetRow[], [view])
  return { view, rows, retry: useRetry(fleetPath) }
}

/** Undefined while the fleet loads, and if it has no such cluster that the user may see. */
export function useFleetRow(
  name: string,
): Omit<FleetView, 'rows'> & { readonly row: FleetRow | undefined } {
  const view = useWatched(fleetPath)
  const retry = useRetry(fleetPath)
  return { row: view.items.get(name) as FleetRow | undefined, view, retry }
}
