/** Where the clusters of a fleet are: clusters have no coordinates, so a person writes them down for regions. Pure. */
import { byName, clusterStates, type ClusterState, type FleetRow } from './fleet.ts'

/** The ConfigMap of the hub with the places. */
export const placesObject = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  namespace: 'kube-public',
  name: 'fleet-places',
}

export interface PlacesObject {
  readonly data?: Readonly<Record<string, string>>
}

/** Degrees north and east. */
export interface Coordinates {
  readonly latitude: number
  readonly longitude: number
}

export type Places = ReadonlyMap<string, Coordinates>

/** Reads `region`, `region.zone` or `region.zone.cluster` with `latitude, longitude`. Lines that say neither are left out. */
export function readPlaces(object: PlacesObject | undefined): Places {
  const entries = Object.entries(object?.data ?? {}).flatMap(
    ([key, text]): [string, Coordinates][] => {
      const [latitude = NaN, longitude = NaN, ...more] = text.split(',').map(numberOf)
      const isPlace = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && more.length === 0
      return isPlace ? [[key, { latitude, longitude }]] : []
    },
  )
  return new Map(entries)
}

/** An empty text is not zero. */
function numberOf(text: string): number {
  return text.trim() === '' ? NaN : Number(text)
}

/** Returns the key of the most exact place of a cluster; undefined if nobody has written one down. */
function placeKey({ r = '', z = '', n }: FleetRow, places: Places): string | undefined {
  return [`${r}.${z}.${n}`, `${r}.${z}`, r].find((key) => places.has(key))
}

/** All clusters at one place. */
export interface PlacedClusters {
  readonly key: string
  readonly at: Coordinates
  readonly rows: readonly FleetRow[]
  /** The worst state of them. */
  readonly state: ClusterState
}

export interface FleetOnMap {
  readonly placed: readonly PlacedClusters[]
  readonly withoutPlace: readonly FleetRow[]
}

export function fleetOnMap(rows: Iterable<FleetRow>, places: Places): FleetOnMap {
  const groups = new Map<string, FleetRow[]>()
  const withoutPlace: FleetRow[] = []
  for (const row of rows) {
    const key = placeKey(row, places)
    const group = key === undefined ? withoutPlace : (groups.get(key) ?? [])
    if (key !== undefined) groups.set(key, group)
    group.push(row)
  }
  const placed = [...groups].flatMap(([key, members]): PlacedClusters[] => {
    const at = places.get(key)
    if (at === undefined) return []
    const state = clusterStates.find((each) => members.some(({ s }) => s === each)) ?? 'unknown'
    return [{ key, at, rows: members.toSorted((a, b) => byName(a.n, b.n)), state }]
  })
  return { placed: placed.toSorted((a, b) => byName(a.key, b.key)), withoutPlace }
}
