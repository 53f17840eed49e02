import { controllerOf } from '@skerry/controller-runtime'
import type { KubeObject } from '@skerry/api'
import type { Group } from '../groups/group.ts'
import {
  annotations,
  appliedHash,
  childKey,
  isRefusal,
  keyOfChild,
  type Child,
  type WantedChild,
} from './child.ts'
import { isComplete } from './child-progress.ts'
import { contains } from './contains.ts'
import type { GroupPolicy } from './group-policy.ts'

export type GroupPhase =
  /** The child runs as the application says. */
  | 'Ready'
  /** The child is being made or updated. */
  | 'Updating'
  /** Other groups are updated first. */
  | 'Waiting'
  /** All nodes of the group are away: the child is updated when one of them is back. */
  | 'Pending'
  /** A person changed the child, and the policy keeps that. */
  | 'Edited'
  /** There is no child, or it cannot be as the application says. */
  | 'Refused'
  /** The group has no node any more; its child is deleted later. */
  | 'Vanished'

/** The state of one group, as the status shows it. */
export interface GroupState {
  readonly name: string
  readonly child: string
  readonly kind?: string
  readonly phase: GroupPhase
  readonly reason?: string
  readonly message?: string
  readonly nodes?: number
  readonly readyNodes?: number
}

export interface ChildrenView {
  readonly owner: KubeObject
  readonly groups: ReadonlyMap<string, Group>
  /** The children, in the order in which groups are updated. */
  readonly wanted: readonly WantedChild[]
  /** The objects that the owner controls. */
  readonly children: readonly Child[]
  readonly policy: GroupPolicy
  readonly nowMs: number
  /** Returns any object of this kind and name in the owner's namespace. */
  readonly named: (kind: string, name: string) => Child | undefined
  /** Returns true for an object without an owner that asks to belong to this one. */
  readonly asksToBelong: (child: Child) => boolean
  /** Returns the group of a child that is not wanted, or undefined if it is of no group of this source. */
  readonly groupOf: (child: Child) => string | undefined
  /** Returns true for a child that stays although it is not wanted. If omitted, none does. */
  readonly keeps?: (child: Child) => boolean
  /** Returns true if the server has turned the applied content into exactly this one. */
  readonly isAsApplied: (child: Child, hash: string) => boolean
}

export type ChildAct =
  | {
      readonly act: 'create' | 'update'
      readonly group: string
      readonly manifest: Child
      readonly force: boolean
    }
  | { readonly act: 'mark'; readonly child: Child; readonly at: string | null }
  | { readonly act: 'remove'; readonly child: Child }

export interface ChildrenPlan {
  readonly acts: readonly ChildAct[]
  readonly states: readonly GroupState[]
  /** The time until something is due that no change announces. */
  readonly nextMs?: number
}

/** A wanted child that exists already. */
interface Step {
  readonly wanted: WantedChild
  readonly manifest: Child
  readonly existing: Child
  readonly isChanged: boolean
}

/** Decides what to write so that each group has its child; touches nothing. */
export function planChildren(view: ChildrenView): ChildrenPlan {
  const acts: ChildAct[] = []
  const states: GroupState[] = []
  const steps: Step[] = []
  const own = new Map(view.children.map((child) => [keyOfChild(child), child]))
  for (const wanted of view.wanted) {
    const key = childKey(wanted.kind, wanted.name)
    const existing = own.get(key)
    own.delete(key)
    const refused = refusedState(wanted, existing, view)
    if (refused) states.push(refused)
    else if (isRefusal(wanted.manifest)) continue
    else if (existing) {
      if (vanishedAt(existing)) acts.push({ act: 'mark', child: existing, at: null })
      steps.push(stepOf({ wanted, manifest: wanted.manifest, existing }, view))
    } else {
      acts.push(creation(wanted, wanted.manifest, view))
      states.push({ ...stateOf(wanted, view), phase: 'Updating', reason: 'Created' })
    }
  }
  planUpdates(steps, view, { acts, states })
  const nextMs = planVanished([...own.values()], view, { acts, states })
  const sorted = states.toSorted((a, b) => (stateKey(a) < stateKey(b) ? -1 : 1))
  return { acts, states: sorted, ...(nextMs === undefined ? {} : { nextMs }) }
}

interface Plan {
  readonly acts: ChildAct[]
  readonly states: GroupState[]
}

function refusedState(
  wanted: WantedChild,
  existing: Child | undefined,
  view: ChildrenView,
): GroupState | undefined {
  const state = stateOf(wanted, view)
  if (isRefusal(wanted.manifest)) return { ...state, phase: 'Refused', ...wanted.manifest }
  if (existing) {
    if (existing.metadata.deletionTimestamp === undefined) return undefined
    const message = `${existing.kind} ${wanted.name} is being deleted; it is made again afterwards`
    return { ...state, phase: 'Waiting', reason: 'BeingDeleted', message }
  }
  const other = view.named(wanted.kind, wanted.name)
  if (!other || (!controllerOf(other) && view.asksToBelong(other))) return undefined
  const owner = controllerOf(other)
  const belongs = owner ? `belongs to ${owner.kind} ${owner.name}` : 'belongs to nobody here'
  const message = `${other.kind} ${wanted.name} exists and ${belongs}`
  return { ...state, phase: 'Refused', reason: 'NameTaken', message }
}

/** An object that asks to belong to the application is taken over; nothing else of this name may be there. */
function creation(wanted: WantedChild, manifest: Child, view: ChildrenView): ChildAct {
  const isThere = view.named(wanted.kind, wanted.name) !== undefined
  return { act: isThere ? 'update' : 'create', group: wanted.group, manifest, force: isThere }
}

function stepOf(step: Omit<Step, 'isChanged'>, { isAsApplied }: ChildrenView): Step {
  const { existing, manifest } = step
  const hash = appliedHash(manifest) ?? ''
  const isSame =
    appliedHash(existing) === hash &&
    (isAsApplied(existing, hash) || contains(existing, contentOf(manifest)))
  return { ...step, isChanged: !isSame }
}

/** The server may answer with another spelling of the version, and a status is its own. */
function contentOf({
  apiVersion: _version,
  kind: _kind,
  status: _status,
  ...content
}: Child): object {
  return content
}

/** Updates as many groups as the policy allows; those that are not done with the last update come first. */
function planUpdates(steps: readonly Step[], view: ChildrenView, { acts, states }: Plan): void {
  const { policy } = view
  const max = policy.updatingMax(steps.length)
  const isAway = ({ group }: WantedChild): boolean => view.groups.get(group)?.readyNodes === 0
  let updating = steps.filter(
    ({ wanted, existing, isChanged }) => !isChanged && !isAway(wanted) && !isComplete(existing),
  ).length
  for (const { wanted, manifest, existing, isChanged } of steps) {
    const state = stateOf(wanted, view)
    const isEdit = appliedHash(existing) === appliedHash(manifest)
    if (!isChanged) {
      const phase = isComplete(existing) ? 'Ready' : isAway(wanted) ? 'Pending' : 'Updating'
      states.push({ ...state, phase, ...(phase === 'Pending' ? { reason: 'NodesAway' } : {}) })
    } else if (isEdit && policy.keepsEdits) {
      const message = 'the child differs from the template; the policy keeps it'
      states.push({ ...state, phase: 'Edited', reason: 'EditKept', message })
    } else if (max !== Infinity && isAway(wanted)) {
      states.push({ ...state, phase: 'Pending', reason: 'NodesAway' })
    } else if (updating >= max) {
      states.push({ ...state, phase: 'Waiting', reason: 'OtherGroupsFirst' })
    } else {
      updating += 1
      const force = !policy.keepsEdits
      acts.push({ act: 'update', group: wanted.group, manifest, force })
      states.push({ ...state, phase: 'Updating', reason: isEdit ? 'EditPutBack' : 'Updated' })
    }
  }
}

/** A child whose group has vanished is kept for a while: nodes are labelled and registered again by mistake, too. */
function planVanished(
  left: readonly Child[],
  view: ChildrenView,
  { acts, states }: Plan,
): number | undefined {
  const { graceMs } = view.policy
  const dueMs: number[] = []
  for (const child of left) {
    if (child.metadata.deletionTimestamp !== undefined || view.keeps?.(child) === true) continue
    const group = view.groupOf(child)
    const since = vanishedAt(child)
    const sinceMs = since === undefined ? view.nowMs : Date.parse(since)
    // A time that nobody can read is a person's mistake, and a workload must not end by it.
    const endMs = (Number.isNaN(sinceMs) ? view.nowMs : sinceMs) + graceMs
    if (group === undefined || endMs <= view.nowMs) {
      acts.push({ act: 'remove', child })
      continue
    }
    if (since === undefined || Number.isNaN(sinceMs)) {
      acts.push({ act: 'mark', child, at: secondsText(view.nowMs) })
    }
    dueMs.push(endMs - view.nowMs)
    const message = `no node is in the group; its child is deleted at ${secondsText(endMs)}`
    const { name = '' } = child.metadata
    const { kind } = child
    states.push({ name: group, child: name, kind, phase: 'Vanished', reason: 'NoNodes', message })
  }
  return dueMs.length === 0 ? undefined : Math.min(...dueMs)
}

/** Tells the states of one application apart. */
export function stateKey({ name, kind, child }: Omit<GroupState, 'phase'>): string {
  return `${name}/${kind}/${child}`
}

function stateOf(
  { group, kind, name }: WantedChild,
  { groups }: ChildrenView,
): Omit<GroupState, 'phase'> {
  const { nodes, readyNodes } = groups.get(group) ?? {}
  return {
    name: group,
    child: name,
    kind,
    ...(nodes === undefined ? {} : { nodes }),
    ...(readyNodes === undefined ? {} : { readyNodes }),
  }
}

function vanishedAt({ metadata }: Child): string | undefined {
  return metadata.annotations?.[annotations.vanished]
}

/** The form of metav1.Time: RFC 3339 in whole seconds. */
export function secondsText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
