/** Reads the rows of the fleet, one for each cluster that the user may see. Pure. */
import type { FleetRow } from '@skerry/api'

export type { FleetRow } from '@skerry/api'

export type ClusterState = FleetRow['s']

/** All states, those that need a person's look first. */
export const clusterStates = [
  'failed',
  'away',
  'degraded',
  'unknown',
  'working',
  'pending',
  'suspended',
  'ready',
] as const satisfies readonly ClusterState[]

export const fleetPath = '/hub/v1/fleet'

/** A cluster in one of these states needs a person's look. */
const attention: ReadonlySet<ClusterState> = new Set(['failed', 'away', 'degraded', 'unknown'])

export function needsAttention(row: FleetRow): boolean {
  return attention.has(row.s)
}

/** Reports whether nobody hears the cluster: everything that is known of it may be old. */
export function isOutOfSight(row: FleetRow): boolean {
  return row.s === 'away' || row.s === 'unknown'
}

export function countByState(rows: Iterable<FleetRow>): ReadonlyMap<ClusterState, number> {
  const counts = new Map<ClusterState, number>()
  for (const row of rows) counts.set(row.s, (counts.get(row.s) ?? 0) + 1)
  return counts
}

export interface FleetFilter {
  /** Words that must all occur in a name, a place, a version, a message or a label `key=value`. */
  readonly text?: string
  readonly states?: readonly ClusterState[]
  /** `key` or `key=value`; all of them hold. */
  readonly labels?: readonly string[]
}

export function matchesFilter(row: FleetRow, { text = '', states, labels }: FleetFilter): boolean {
  if (states !== undefined && states.length > 0 && !states.includes(row.s)) return false
  if (labels?.some((label) => !hasLabel(row, label))) return false
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return true
  const searched = searchedText(row)
  return words.every((word) => searched.includes(word))
}

function hasLabel({ l = {} }: FleetRow, label: string): boolean {
  const [key, value] = splitOnce(label)
  return value === undefined ? Object.hasOwn(l, key) : l[key] === value
}

function splitOnce(label: string): [key: string, value?: string] {
  const at = label.indexOf('=')
  return at < 0 ? [label] : [label.slice(0, at), label.slice(at + 1)]
}

function searchedText(row: FleetRow): string {
  const labels = Object.entries(row.l ?? {}).map(([key, value]) => `${key}=${value}`)
  return [row.n, row.r, row.z, row.p, row.v, row.m, row.parent, ...labels]
    .filter(Boolean)
    .join('\n')
    .toLowerCase()
}

/** A place or a label by which the overview puts clusters together. */
export type GroupKey = 'region' | 'zone' | 'provider' | 'version' | 'state' | `label:${string}`

export interface FleetGroup {
  /** Empty for the clusters that have no such value. */
  readonly name: string
  readonly rows: readonly FleetRow[]
}

/** Sorts the groups by name, also those that need attention, so that each stays where it was a moment ago. */
export function groupFleet(rows: Iterable<FleetRow>, key: GroupKey): FleetGroup[] {
  const groups = new Map<string, FleetRow[]>()
  for (const row of rows) {
    const name = groupOf(row, key)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [row])
    else group.push(row)
  }
  return [...groups]
    .map(([name, members]) => ({ name, rows: members.toSorted((a, b) => byName(a.n, b.n)) }))
    .toSorted((a, b) => Number(a.name === '') - Number(b.name === '') || byName(a.name, b.name))
}

function groupOf(row: FleetRow, key: GroupKey): string {
  if (key.startsWith('label:')) return row.l?.[key.slice('label:'.length)] ?? ''
  const values: Readonly<Record<string, string | undefined>> = {
    region: row.r,
    zone: row.z,
    provider: row.p,
    version: row.v,
    state: row.s,
  }
  return values[key] ?? ''
}

const names = new Intl.Collator('en', { numeric: true })

export function byName(a: string, b: string): number {
  return names.compare(a, b)
}

/** Lists the keys of labels in the fleet, the most frequent first. */
export function labelKeys(rows: Iterable<FleetRow>): string[] {
  const counts = new Map<string, number>()
  for (const { l } of rows) {
    for (const key of Object.keys(l ?? {})) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts].toSorted(([a, m], [b, n]) => n - m || byName(a, b)).map(([key]) => key)
}
