import { RecentMap } from '@skerry/base'
import { equalJson, isStatusError, StatusError, type Node } from '@skerry/api'
import {
  ifThere,
  keyOfObject,
  parseKey,
  resources,
  type Change,
  type ResourceClient,
} from '@skerry/client'
import {
  byControllerUid,
  controllerOf,
  controllerUidIndex,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { isReady } from '../groups/label-groups.ts'
import { edgeAppsBounds } from '../limits-table.ts'
import { appliedHash, annotations, type Child } from './child.ts'
import type { App, AppKind, AppReading } from './app-kind.ts'
import { withoutConflicts } from './without-fields.ts'
import { planChildren, type ChildAct, type ChildrenPlan, type GroupState } from './child-plan.ts'

/** Keeps fields that it applied, and takes away those that it no longer applies. */
export const appliedBy = 'skerry-edge-apps'

const { appliedMax, nodeDelayMs, writesMax } = edgeAppsBounds.appController
const { groupsMax } = edgeAppsBounds.childPlan

/** Creates the controller of one kind of applications. */
export function appController<T extends App>(kind: AppKind<T>): ControllerDefinition {
  const seen: Seen = { applied: new RecentMap(appliedMax), removed: new RecentMap(appliedMax) }
  return {
    name: kind.controller,
    watches: [
      watch(kind.resource, { keysOf: ({ object }) => [keyOfObject(object)] }),
      watch(kind.children, {
        keysOf: (change, context) => appsOfChild(kind, change, context),
        indexes: { [byControllerUid]: controllerUidIndex },
      }),
      watch(resources.nodes, {
        keysOf: (change, context) => appsOfNode(kind, change, context),
        delayMs: nodeDelayMs,
      }),
    ],
    reconcile: (key, context, signal) => reconcile({ kind, seen, key }, context, signal),
  }
}

/** The controller's own writes of children, by their uid. */
interface Seen {
  /** The hash of the content, and the generation that the server made of it. */
  readonly applied: RecentMap<string, { hash: string; generation: number | undefined }>
  /** Deleted children that the informer may still have: the server's answer does not say that they are gone. */
  readonly removed: RecentMap<string, true>
}

function appsOfChild<T extends App>(
  kind: AppKind<T>,
  { object, old }: Change<Child>,
  context: ControllerContext,
): string[] {
  const keys = new Set<string>()
  const { namespace = '', name = '' } = object.metadata
  for (const each of [object, old]) {
    const owner = each && controllerOf(each)
    if (owner && owner.kind === kind.resource.kind) keys.add(`${namespace}/${owner.name}`)
  }
  if (keys.size > 0) return [...keys]
  // A stranger with the name of a child concerns the application that wanted the name.
  for (const app of context.informer(kind.resource).list(namespace)) {
    const isWanted = app.status?.groups?.some(({ child }) => child === name) === true
    if (isWanted) keys.add(keyOfObject(app))
  }
  return [...keys]
}

/** Nodes write their status all the time; only their labels and whether they are ready matter. */
function appsOfNode<T extends App>(
  kind: AppKind<T>,
  { object, old }: Change<Node>,
  context: ControllerContext,
): string[] {
  const labels = object.metadata.labels ?? {}
  const before = old?.metadata.labels ?? {}
  const isWhole = old === undefined || isReady(old) !== isReady(object)
  if (!isWhole && equalJson(labels, before)) return []
  return context
    .informer(kind.resource)
    .list()
    .filter((app) =>
      kind.nodeKeys(app).some((key) => (isWhole ? key in labels : labels[key] !== before[key])),
    )
    .map(keyOfObject)
}

interface Look<T extends App> {
  readonly kind: AppKind<T>
  readonly seen: Seen
  readonly key: string
}

async function reconcile<T extends App>(
  { kind, seen, key }: Look<T>,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const app = context.informer(kind.resource).get(parseKey(key))
  if (!app || app.metadata.deletionTimestamp !== undefined) return
  const { namespace = '' } = app.metadata
  const reading = kind.read(app, {
    nodes: context.informer(resources.nodes).list(),
    child: (name) => context.informer(kind.children).get({ namespace, name }),
  })
  const problem = reading.problem ?? tooMany(reading)
  if (problem) {
    const state = { name: '', child: '', phase: 'Refused', ...problem } as const
    await writeStatus({ kind, app, reading, states: [state] }, context, signal)
    return
  }
  if (reading.ownPatch) {
    const patch = { type: 'merge', patch: reading.ownPatch, fieldManager: appliedBy } as const
    // The change of the application leads to the next look.
    return void (await ifThere(
      context.client(kind.resource).patch({ ...parseKey(key), ...patch }, signal),
    ))
  }
  const plan = planOf({ kind, seen, app, reading }, context)
  const failures = await actOn(plan.acts, { kind, seen, app }, context, signal)
  const states = plan.states.map((state) => failures.states.get(state.name) ?? state)
  await writeStatus({ kind, app, reading, states }, context, signal)
  if (failures.retry) throw failures.retry
  if (plan.nextMs !== undefined) return { requeueAfterMs: plan.nextMs }
}

function tooMany({ groups }: AppReading): AppReading['problem'] {
  if (groups.length <= groupsMax) return undefined
  const message = `Cannot make children: ${groups.length} groups, and ${groupsMax} are the most`
  return { reason: 'TooManyGroups', message }
}

interface Planning<T extends App> {
  readonly kind: AppKind<T>
  readonly seen: Seen
  readonly app: T
  readonly reading: AppReading
}

function planOf<T extends App>(
  { kind, seen, app, reading }: Planning<T>,
  context: ControllerContext,
): ChildrenPlan {
  const informer = context.informer(kind.children)
  const namespace = app.metadata.namespace ?? ''
  return planChildren({
    ...reading,
    groups: new Map(reading.groups.map((group) => [group.name, group])),
    owner: app,
    children: informer.byIndex(byControllerUid, app.metadata.uid ?? ''),
    nowMs: context.clock.now(),
    named: (name) => informer.get({ namespace, name }),
    isAsApplied: ({ metadata }, hash) => {
      const known = seen.applied.get(metadata.uid ?? '')
      return known?.hash === hash && known.generation === metadata.generation
    },
  })
}

interface Acting<T extends App> {
  readonly kind: AppKind<T>
  readonly seen: Seen
  readonly app: T
}

interface Failures {
  /** The states of groups whose child the server refused, by group. */
  readonly states: Map<string, GroupState>
  /** An error that may pass by itself. */
  retry?: unknown
}

/** Carries the plan out, some children at a time. One that fails does not stop the others. */
async function actOn<T extends App>(
  acts: readonly ChildAct[],
  acting: Acting<T>,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Failures> {
  const failures: Failures = { states: new Map() }
  for (let from = 0; from < acts.length; from += writesMax) {
    const some = acts.slice(from, from + writesMax)
    const results = await Promise.allSettled(
      some.map((act) => carryOut(act, acting, context, signal)),
    )
    signal.throwIfAborted()
    results.forEach((result, at) => {
      const act = some[at]
      if (result.status === 'fulfilled' || !act) return
      const state = failedState(act, result.reason)
      if (state) failures.states.set(state.name, state)
      if (!isFinal(result.reason)) failures.retry ??= result.reason
    })
  }
  return failures
}

/** The server refuses the same content again; a change of the application, or of the child, leads to another look. */
function isFinal(error: unknown): boolean {
  return isStatusError(error, 'Invalid') || isStatusError(error, 'BadRequest')
}

function failedState(act: ChildAct, error: unknown): GroupState | undefined {
  if (!('manifest' in act) || !(error instanceof StatusError)) return undefined
  const { name = '' } = act.manifest.metadata
  const { reason, message } = error
  return { name: act.group, child: name, phase: 'Refused', reason, message }
}

async function carryOut<T extends App>(
  act: ChildAct,
  { kind, seen, app }: Acting<T>,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const client = context.client(kind.children)
  const { namespace = '' } = app.metadata
  if ('manifest' in act) {
    const { manifest } = act
    const { metadata } = await applyChild({ ...act, client }, signal)
    const hash = appliedHash(manifest) ?? ''
    seen.applied.set(metadata.uid ?? '', { hash, generation: metadata.generation })
    return
  }
  const { name = '', uid = '' } = act.child.metadata
  if (act.act === 'remove') {
    if (seen.removed.get(uid)) return
    const how = { propagationPolicy: 'Background', preconditions: { uid } } as const
    await ifThere(client.delete({ name, namespace, ...how }, signal))
    seen.applied.delete(uid)
    seen.removed.set(uid, true)
    return
  }
  const patch = { metadata: { uid, annotations: { [annotations.vanished]: act.at } } }
  await ifThere(
    client.patch({ name, namespace, type: 'merge', patch, fieldManager: appliedBy }, signal),
  )
}

type Applying = Extract<ChildAct, { manifest: Child }> & { readonly client: ResourceClient<Child> }

/** Without force, fields that others have changed stay; an object of a stranger that came meanwhile stays as a whole. */
async function applyChild(
  { act, client, manifest, force }: Applying,
  signal: AbortSignal,
): Promise<Child> {
  const { name = '', namespace = '' } = manifest.metadata
  const request = { name, namespace, type: 'apply', fieldManager: appliedBy, force } as const
  try {
    return await client.patch({ ...request, patch: manifest }, signal)
  } catch (error) {
    const rest = act === 'update' && !force ? withoutConflicts(manifest, error) : undefined
    if (!rest) throw error
    return client.patch({ ...request, patch: rest }, signal)
  }
}

interface Report<T extends App> {
  readonly kind: AppKind<T>
  readonly app: T
  readonly reading: AppReading
  readonly states: readonly GroupState[]
}

async function writeStatus<T extends App>(
  { kind, app, reading, states }: Report<T>,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const children = context.informer(kind.children).byIndex(byControllerUid, app.metadata.uid ?? '')
  const own = kind.statusOf(app, { states, children, groupOf: reading.groupOf })
  const { generation } = app.metadata
  const status = {
    ...own,
    ...(states.length > 0 ? { groups: states } : {}),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  }
  tellNews({ kind, app, reading, states }, children, context)
  if (equalJson(app.status ?? {}, status)) return
  await ifThere(context.client(kind.resource).updateStatus({ ...app, status }, signal))
}

/** Tells once what a person should know; the status goes on showing it. */
function tellNews<T extends App>(
  { kind, app, states }: Report<T>,
  children: readonly Child[],
  { events }: ControllerContext,
): void {
  const known = new Map(app.status?.groups?.map((each) => [each.name, each]))
  for (const { name, child, phase, reason = phase, message = '' } of states) {
    if (phase !== 'Refused' && phase !== 'Vanished') continue
    const old = known.get(name)
    if (old?.phase === phase && old.reason === reason && old.message === message) continue
    const isThere = children.some(({ metadata }) => metadata.name === child)
    const word = child === '' ? undefined : kind.refusedReason?.(isThere)
    const text = name === '' ? message : `${name}: ${message}`
    events.event(app, { type: 'Warning', reason: word ?? reason, message: text })
  }
}
