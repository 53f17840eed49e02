/** Applications that run in many places of one cluster: their kinds, the state of each place, and their addresses. Pure. */
import { byName } from '../fleet/fleet.ts'
import type { ResourceName } from '../hub/api-paths.ts'

/** The kinds of applications; the cluster says in which version it serves them. */
export const placedKinds: readonly Pick<ResourceName, 'group' | 'resource'>[] = [
  { group: 'superedge.io', resource: 'deploymentgrids' },
  { group: 'superedge.io', resource: 'statefulsetgrids' },
  { group: 'superedge.io', resource: 'servicegrids' },
  { group: 'apps.kubeedge.io', resource: 'edgeapplications' },
  { group: 'apps.openyurt.io', resource: 'yurtappsets' },
]

export const phases = [
  'Refused',
  'Edited',
  'Pending',
  'Vanished',
  'Waiting',
  'Updating',
  'Ready',
] as const

/** The state of one place. The worst comes first in the list of all. */
export type Phase = (typeof phases)[number]

/** An entry of `status.groups`. */
export interface GroupState {
  /** Empty for an object that the application has once. */
  readonly name: string
  readonly child: string
  readonly kind?: string
  readonly phase: string
  readonly reason?: string
  readonly message?: string
  readonly nodes?: number
  readonly readyNodes?: number
}

export interface PlacedApplication {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly resourceVersion?: string
  }
  readonly status?: { readonly groups?: readonly GroupState[] }
}

/** A field in which a child differs from what all places have in common. */
export interface Difference {
  readonly path: string
  readonly from?: unknown
  readonly to?: unknown
  readonly by: 'Group' | 'Application' | 'Edit'
  readonly why: string
}

export interface ExplainedChild {
  readonly group: string
  readonly kind: string
  readonly name: string
  readonly podLabels?: Readonly<Record<string, string>>
  readonly replicas?: number
  readonly readyReplicas?: number
  readonly differences: readonly Difference[]
}

/** The hub's answer about an application. */
export interface PlacedExplanation {
  readonly problem?: { readonly reason: string; readonly message: string }
  readonly children: readonly ExplainedChild[]
  readonly unread: readonly string[]
}

/** The hub's answer about a service. */
export interface ServiceReach {
  readonly keys: readonly string[]
  readonly faults: readonly { readonly annotation: string; readonly value: string }[]
  readonly endpoints: readonly {
    readonly address: string
    readonly node?: string
    readonly pod?: string
    readonly isReady: boolean
  }[]
  readonly places: readonly {
    readonly labels: Readonly<Record<string, string>>
    readonly nodes: readonly string[]
    readonly endpoints: readonly number[]
  }[]
}

type Question = 'application-in-places' | 'service-in-places'

/** Returns where the hub answers about an application, or about a service if no kind is given. */
export function explanationPath(
  cluster: string,
  { kind, namespace, name }: { kind?: string; namespace: string; name: string },
): string {
  const question: Question = kind === undefined ? 'service-in-places' : 'application-in-places'
  const query = new URLSearchParams({
    ...(kind === undefined ? {} : { kind }),
    namespace,
    name,
  })
  return `/hub/v1/clusters/${encodeURIComponent(cluster)}/${question}?${query.toString()}`
}

export function placedPage(
  cluster: string,
  { resource }: Pick<ResourceName, 'resource'>,
  { namespace = '', name }: PlacedApplication['metadata'],
): string {
  const words = [cluster, 'places', resource, namespace, name].map(encodeURIComponent)
  return `/clusters/${words.join('/')}`
}

function phaseOf({ phase }: Pick<GroupState, 'phase'>): Phase {
  // A phase of a newer version is not known to be well.
  return phases.find((known) => known === phase) ?? 'Waiting'
}

/** The number of places that run as they should, of how many, and the worst state of all. */
export interface PlacedTotals {
  readonly ready: number
  readonly total: number
  /** Undefined if the application has no state of its places. */
  readonly worst?: Phase
  readonly problem: string
}

export function placedTotals({ status }: PlacedApplication): PlacedTotals {
  const groups = status?.groups ?? []
  const states = groups.map(phaseOf)
  const worst = phases.find((phase) => states.includes(phase))
  const told = groups.find((group) => phaseOf(group) === worst && worst !== 'Ready')
  return {
    ready: states.filter((phase) => phase === 'Ready').length,
    total: states.length,
    ...(worst === undefined ? {} : { worst }),
    problem: told === undefined ? '' : whyOf(told),
  }
}

/** The reason of a state in the words of the cluster. */
function whyOf({ name, reason = '', message = '' }: GroupState): string {
  const why = message === '' ? reason : message
  return name === '' || why === '' ? why : `${name}: ${why}`
}

/** One child of an application: its state, which is live, and what the hub has found out about it. */
export interface ChildRow {
  readonly key: string
  readonly group: string
  readonly kind: string
  readonly name: string
  readonly phase: Phase | undefined
  readonly why: string
  readonly nodes?: number
  readonly readyNodes?: number
  readonly explained: ExplainedChild | undefined
}

export function childRows(
  { status }: PlacedApplication,
  explanation: PlacedExplanation | undefined,
): ChildRow[] {
  const rows = new Map<string, ChildRow>()
  for (const child of explanation?.children ?? []) {
    const { group, kind, name } = child
    const key = `${kind}/${name}`
    rows.set(key, { key, group, kind, name, phase: undefined, why: '', explained: child })
  }
  for (const state of status?.groups ?? []) {
    const { name: group, kind = '', child: name, nodes, readyNodes } = state
    if (kind === 'ControllerRevision') continue
    const key = `${kind}/${name}`
    const { message = '', reason = '' } = state
    rows.set(key, {
      key,
      group,
      kind,
      name,
      phase: phaseOf(state),
      why: message === '' ? reason : message,
      ...(nodes === undefined ? {} : { nodes }),
      ...(readyNodes === undefined ? {} : { readyNodes }),
      explained: rows.get(key)?.explained,
    })
  }
  return [...rows.values()].toSorted((a, b) => byName(a.group, b.group) || byName(a.key, b.key))
}

/** The number of fields that are not just those by which pods find their place; -1 if nobody knows. */
export function ownDifferences(child: ExplainedChild | undefined): number {
  return child === undefined ? -1 : child.differences.filter(({ by }) => by !== 'Group').length
}

export interface DifferenceRow extends Difference {
  readonly key: string
  readonly child: ExplainedChild
}

/** Lists all differences, changes by hand first: nobody planned them. */
export function differenceRows(explanation: PlacedExplanation): DifferenceRow[] {
  return explanation.children
    .flatMap((child) =>
      child.differences.map((each) => ({
        ...each,
        key: `${child.kind}/${child.name} ${each.by} ${each.path}`,
        child,
      })),
    )
    .toSorted((a, b) => Number(b.by === 'Edit') - Number(a.by === 'Edit'))
}

/** Returns a value of an object as a short text. */
export function valueText(value: unknown): string {
  if (value === undefined) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A Service, as far as it is read here. */
export interface SelectingService {
  readonly metadata: { readonly name: string }
  readonly spec?: { readonly selector?: Readonly<Record<string, string>> }
}

/** Returns the services that are children of an application, or that select pods of its children. */
export function servicesOf(
  { children }: PlacedExplanation,
  services: readonly SelectingService[],
): string[] {
  const own = children.filter(({ kind }) => kind === 'Service').map(({ name }) => name)
  const labels = children.flatMap(({ podLabels }) => (podLabels === undefined ? [] : [podLabels]))
  const selecting = services.filter(({ spec }) => {
    const selector = Object.entries(spec?.selector ?? {})
    if (selector.length === 0) return false
    return labels.some((each) => selector.every(([key, value]) => each[key] === value))
  })
  return [...new Set([...own, ...selecting.map(({ metadata }) => metadata.name)])].toSorted(byName)
}
