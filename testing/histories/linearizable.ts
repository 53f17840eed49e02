import type { Operation, Version } from './history.ts'

const configurationsMax = 200_000

/** The state of a key; a revision of undefined is one that nobody has seen. */
interface KeyState {
  readonly value: string | undefined
  readonly revision: number | undefined
  /** The last revision that is known. */
  readonly floor: number
}

/** One way in which things may have happened: a state, and the pending operations that have taken effect in it. */
interface Configuration {
  readonly state: KeyState
  readonly done: ReadonlySet<number>
}

interface Moment {
  readonly atMs: number
  readonly isAnswer: boolean
  readonly operation: number
}

/**
 * Returns the faults of a history: each key must behave as one register with revisions, in which every operation took
 * effect at one moment between its call and its answer. Searches as Wing and Gong do, one answer after the other, so
 * that only operations that overlap are tried in different orders. Throws if there are too many ways to tell.
 */
export function linearizabilityFaults(operations: readonly Operation[]): string[] {
  const byKey = Map.groupBy(operations, ({ key }) => key)
  return [...byKey].flatMap(([key, each]) => {
    const revisions = seenRevisions(each)
    if (typeof revisions === 'string') return [`${key}: ${revisions}`]
    return faultOfKey(key, each, revisions) ?? []
  })
}

/** Returns the revision of each value that somebody has read or written, or the fault of one that has two. */
function seenRevisions(operations: readonly Operation[]): ReadonlyMap<string, number> | string {
  const revisions = new Map<string, number>()
  for (const { action } of operations) {
    const seen: Version | undefined =
      action.kind === 'read'
        ? action.found
        : typeof action.outcome === 'number'
          ? { value: action.value, revision: action.outcome }
          : undefined
    if (seen === undefined) continue
    const known = revisions.get(seen.value) ?? seen.revision
    if (known !== seen.revision) {
      return `value ${seen.value} was seen at revision ${known} and at ${seen.revision}`
    }
    revisions.set(seen.value, seen.revision)
  }
  return revisions
}

function faultOfKey(
  key: string,
  operations: readonly Operation[],
  revisions: ReadonlyMap<string, number>,
): string | undefined {
  const pending = new Set<number>()
  let configurations: readonly Configuration[] = [
    { state: { value: undefined, revision: 0, floor: 0 }, done: new Set() },
  ]
  for (const { isAnswer, operation: at } of momentsOf(operations)) {
    if (!isAnswer) {
      pending.add(at)
      continue
    }
    const next = answersOf(at, configurations, { operations, pending, revisions })
    pending.delete(at)
    if (next.length === 0) {
      const states = configurations.map(({ state }) => textOfState(state))
      return `${key}: ${textOf(operations[at])}, but it could only be ${[...new Set(states)].join(' or ')}`
    }
    configurations = next
  }
  return undefined
}

function momentsOf(operations: readonly Operation[]): Moment[] {
  return operations
    .flatMap(({ calledMs, answeredMs }, operation): Moment[] => [
      { atMs: calledMs, isAnswer: false, operation },
      ...(answeredMs === Infinity ? [] : [{ atMs: answeredMs, isAnswer: true, operation }]),
    ])
    .toSorted((a, b) => a.atMs - b.atMs || Number(a.isAnswer) - Number(b.isAnswer))
}

interface Search {
  readonly operations: readonly Operation[]
  readonly pending: ReadonlySet<number>
  readonly revisions: ReadonlyMap<string, number>
}

/** Returns the configurations in which the operation that is answered now has taken effect. */
function answersOf(
  answered: number,
  configurations: readonly Configuration[],
  { operations, pending, revisions }: Search,
): Configuration[] {
  const found = new Map<string, Configuration>()
  const tried = new Set<string>()
  const open = [...configurations]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const name = nameOf(each)
    if (tried.has(name)) continue
    tried.add(name)
    if (tried.size > configurationsMax) {
      throw new Error(
        `Cannot judge the history: more than ${configurationsMax} ways to tell at once`,
      )
    }
    if (each.done.has(answered)) {
      const done = new Set(each.done)
      done.delete(answered)
      const settled = { state: each.state, done }
      found.set(nameOf(settled), settled)
      continue
    }
    for (const candidate of pending) {
      const operation = operations[candidate]
      if (each.done.has(candidate) || operation === undefined) continue
      const state = stateAfter(each.state, operation, revisions)
      if (state) open.push({ state, done: new Set([...each.done, candidate]) })
    }
  }
  return [...found.values()]
}

function nameOf({ state, done }: Configuration): string {
  return JSON.stringify([state.value, state.revision, [...done].toSorted((a, b) => a - b)])
}

/** Returns undefined if the operation cannot have had its outcome in this state. */
function stateAfter(
  state: KeyState,
  { action }: Operation,
  revisions: ReadonlyMap<string, number>,
): KeyState | undefined {
  if (action.kind === 'read') {
    const { value, revision } = action.found ?? { value: undefined, revision: 0 }
    return state.value === value && state.revision === revision ? state : undefined
  }
  const { value, expect, outcome } = action
  const fits = expect === undefined || isAt(state, expect)
  if (outcome === 'refused') return fits && state.revision !== undefined ? undefined : state
  if (!fits) return undefined
  const revision = revisions.get(value)
  if (revision !== undefined && revision <= state.floor) return undefined
  return { value, revision, floor: revision ?? Math.max(state.floor, expect ?? 0) }
}

/** A version that nobody has read may have any revision after the last one that is known. */
function isAt({ revision, floor }: KeyState, expected: number): boolean {
  return revision === undefined ? expected > floor : expected === revision
}

function textOf(operation: Operation | undefined): string {
  if (operation === undefined) return 'nothing'
  const { client, action } = operation
  if (action.kind === 'read') return `${client} read ${textOfState(action.found)}`
  const condition = action.expect === undefined ? '' : ` over ${action.expect}`
  return `${client} wrote ${action.value}${condition} (${action.outcome})`
}

function textOfState(found: Partial<Version> | undefined): string {
  if (found?.value === undefined) return 'nothing'
  return `${found.value} at ${found.revision ?? 'a revision that nobody saw'}`
}
