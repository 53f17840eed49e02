import { RecentMap } from '@skerry/base'
import { equalJson, isStatusError, StatusError, type KubeObject, type Node } from '@skerry/api'
import {
  ifThere,
  keyOfObject,
  parseKey,
  resources,
  type Change,
  type KnownResource,
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
import { appliedHash, annotations, childKey, keyOfChild, type Child } from './child.ts'
import type { App, AppKind, AppReading, AppWorld } from './app-kind.ts'
import { withoutConflicts } from './without-fields.ts'
import {
  planChildren,
  stateKey,
  type ChildAct,
  type ChildrenPlan,
  type GroupState,
} from './child-plan.ts'

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
      ...kind.children.map((children) =>
        watch(children, {
          keysOf: (change, context) => appsOfChild(kind, change, context),
          indexes: { [byControllerUid]: controllerUidIndex },
        }),
      ),
      ...(kind.sources ?? []).map((source) =>
        watch(source, { keysOf: (change, context) => appsOfSource(kind, change, context) }),
      ),
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
  /** The hash of the content, and the version that the server made of it. */
  readonly applied: RecentMap<string, { hash: string; version: string }>
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
    const isWanted =
      app.status?.groups?.some(
        ({ child, kind: of = object.kind }) => child === name && of === object.kind,
      ) === true
    if (isWanted) keys.add(keyOfObject(app))
  }
  return [...keys]
}

/** Looks at every application, because only its spec says which sources it selects. */
function appsOfSource<T extends App>(
  kind: AppKind<T>,
  { object, old, type }: Change<KubeObject>,
  context: ControllerContext,
): string[] {
  const seen = ({ metadata }: KubeObject): unknown => [
    metadata.labels ?? {},
    metadata.deletionTimestamp === undefined,
  ]
  if (type !== 'deleted' && old && equalJson(seen(old), seen(object))) return []
  return context.informer(kind.resource).list().map(keyOfObject)
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
  const reading = kind.read(app, {
    nodes: context.informer(resources.nodes).list(),
    owned: ownedBy(app, kind, context),
    named: namedIn(app, kind, context),
    objects: (source) => context.informer(source).list(),
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
  const states = plan.states.map((state) => failures.states.get(stateKey(state)) ?? state)
  await writeStatus({ kind, app, reading, states }, context, signal)
  if (failures.retry) throw failures.retry
  if (plan.nextMs !== undefined) return { requeueAfterMs: plan.nextMs }
}

function tooMany({ groups, wanted }: AppReading): AppReading['problem'] {
  const count = Math.max(groups.length, wanted.length)
  if (count <= groupsMax) return undefined
  const message = `Cannot make children: ${groups.length} groups with ${wanted.length} children, and ${groupsMax} are the most`
  return { reason: 'TooManyGroups', message }
}

function ownedBy<T extends App>(app: T, kind: AppKind<T>, context: ControllerContext): Child[] {
  const { uid = '' } = app.metadata
  return kind.children.flatMap((each) => context.informer(each).byIndex(byControllerUid, uid))
}

function namedIn<T extends App>(
  { metadata: { namespace = '' } }: T,
  kind: AppKind<T>,
  context: ControllerContext,
): AppWorld['named'] {
  return (of, name) => context.informer(resourceOf(kind, of)).get({ namespace, name })
}

function resourceOf<T extends App>(kind: AppKind<T>, of: string): KnownResource<Child> {
  const found = kind.children.find((each) => each.kind === of)
  if (found) return found
  throw new TypeError(`Cannot make a ${of} for a ${kind.resource.kind}: it has no such children`)
}

/** The generation changes with a spec. Objects without one have only the version of each write. */
function versionOf({ metadata }: Child): string {
  const { generation, resourceVersion = '' } = metadata
  return generation === undefined ? `of write ${resourceVersion}` : String(generation)
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
  return planChildren({
    ...reading,
    groups: new Map(reading.groups.map((group) => [group.name, group])),
    owner: app,
    children: ownedBy(app, kind, context),
    nowMs: context.clock.now(),
    named: namedIn(app, kind, context),
    isAsApplied: (child, hash) => {
      const known = seen.applied.get(child.metadata.uid ?? '')
      return known?.hash === hash && known.version === versionOf(child)
    },
  })
}

interface Acting<T extends App> {
  readonly kind: AppKind<T>
  readonly seen: Seen
  readonly app: T
}

interface Failures {
  /** The states of children that the server refused, by their key. */
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
      if (state) failures.states.set(stateKey(state), state)
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
  const { kind } = act.manifest
  return { name: act.group, child: name, kind, phase: 'Refused', reason, message }
}

async function carryOut<T extends App>(
  act: ChildAct,
  { kind, seen, app }: Acting<T>,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const of = 'manifest' in act ? act.manifest.kind : act.child.kind
  const client = context.client(resourceOf(kind, of))
  const { namespace = '' } = app.metadata
  if ('manifest' in act) {
    const { manifest } = act
    const applied = await applyChild({ ...act, client }, signal)
    const hash = appliedHash(manifest) ?? ''
    seen.applied.set(applied.metadata.uid ?? '', { hash, version: versionOf(applied) })
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
  const children = ownedBy(app, kind, context)
  const own = kind.statusOf(app, {
    states,
    children,
    groupOf: reading.groupOf,
    nowMs: context.clock.now(),
  })
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
  const known = new Map(app.status?.groups?.map((each) => [stateKey(each), each]))
  const present = new Set(children.map(keyOfChild))
  for (const state of states) {
    const { name, child, kind: of = '', phase, reason = phase, message = '' } = state
    if (phase !== 'Refused' && phase !== 'Vanished') continue
    const old = known.get(stateKey(state))
    if (old?.phase === phase && old.reason === reason && old.message === message) continue
    const word = child === '' ? undefined : kind.refusedReason?.(present.has(childKey(of, child)))
    const text = name === '' ? message : `${name}: ${message}`
    events.event(app, { type: 'Warning', reason: word ?? reason, message: text })
  }
}
