import { equalJson, isStatusError, type CustomResourceDefinition, type Kind } from '@skerry/api'
import { kindsOfCustomResource } from '@skerry/kinds'
import { BoundedQueue, asError, type Clock, type Logger, type Timer } from '@skerry/base'
import { everything } from '../cache/selection.ts'
import { resourceKey } from '../cache/watch-cache.ts'
import type { CacheEvent, CacheListener } from '../cache/resource-cache.ts'
import type { Objects } from '../contract/objects.ts'
import type { ConvertObjects } from '../registry/kind-reader.ts'
import { deleteCollection } from '../registry/delete-collection.ts'
import { timeText, type RegistryDeps, type RequestScope } from '../registry/request-scope.ts'
import { serverScope } from '../registry/server-objects.ts'
import { typed } from '../contract/typed-objects.ts'
import { withSchemaHooks } from './custom-strategy.ts'
import { isEstablished, merged, planStatus } from './definition-status.ts'
import { apiServerBounds } from '../limits-table.ts'

export interface CustomKindsDeps {
  readonly registry: RegistryDeps
  readonly objects: Objects
  readonly clock: Clock
  readonly log: Logger
  /**
   * Creates converters for definitions with a conversion webhook. If omitted, their objects are not
   * converted.
   */
  readonly converterOf?: (crd: CustomResourceDefinition) => ConvertObjects
}

export interface CustomKinds {
  /** Returns the openAPIV3Schema of a custom kind from its CRD. */
  customSchema(kind: Kind): unknown
  /** Follows the CRDs until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

const definitions = Object.freeze({
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
})
const storage = resourceKey(definitions.group, definitions.resource)
const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'
const { pendingMax, retryMs } = apiServerBounds.customKinds

/**
 * Serves the kinds of CRDs. An established definition is served from the moment it is in the cache,
 * and its status follows soon. The objects of a deleted definition are deleted before it.
 */
export function createCustomKinds(deps: CustomKindsDeps): CustomKinds {
  const { registry } = deps
  if (!registry.kinds.findStored(definitions)) {
    return { customSchema: () => undefined, run: async () => undefined }
  }
  const isOwn = ownKinds(registry.kinds.all())
  const served = new Map<string, ServedDefinition>()
  let pending = new BoundedQueue<string>(pendingMax)
  const see = (name: string, crd: CustomResourceDefinition | undefined): void => {
    const group = (crd ?? served.get(name)?.crd)?.spec.group
    serve(served, name, crd && isOwn(crd) ? undefined : crd, deps)
    pending.push(name)
    // Other definitions may have waited for a name that is free now.
    for (const other of crd ? [] : deps.objects.list(definitions)) {
      const { spec, metadata } = typed<CustomResourceDefinition>(other)
      if (spec.group === group && metadata.name !== name) pending.push(metadata.name ?? '')
    }
  }
  const seeAll = (): void => {
    for (const object of deps.objects.list(definitions)) {
      see(object.metadata.name ?? '', typed<CustomResourceDefinition>(object))
    }
  }
  seeAll()
  return {
    customSchema: ({ group, version, resource }) =>
      served.get(`${resource}.${group}`)?.crd.spec.versions.find(({ name }) => name === version)
        ?.schema?.openAPIV3Schema,
    async run(signal) {
      while (!signal.aborted) {
        using _listening = listen(deps, see, () => pending.close())
        using _stop = closing(pending, signal)
        using later = laterQueue(deps.clock, (name) => pending.push(name))
        for await (const name of pending) {
          if ((await reconcile(name, { ...deps, isOwn }, signal)) === 'again') later.push(name)
        }
        pending = new BoundedQueue<string>(pendingMax)
        if (!signal.aborted) seeAll()
      }
    },
  }
}

interface CustomKindsParts extends CustomKindsDeps {
  readonly isOwn: (crd: CustomResourceDefinition) => boolean
}

/** A definition with the name of a built-in resource has no effect, and neither has its deletion. */
function ownKinds(kinds: readonly Kind[]): (crd: CustomResourceDefinition) => boolean {
  const own = new Set(kinds.map(({ group, resource }) => resourceKey(group, resource)))
  return ({ spec: { group, names } }) => own.has(resourceKey(group, names.plural))
}

interface ServedDefinition {
  readonly crd: CustomResourceDefinition
  readonly kinds: readonly Kind[]
}

/** Synchronous, so that the kinds exist before any other listener gets the event. */
function serve(
  served: Map<string, ServedDefinition>,
  name: string,
  crd: CustomResourceDefinition | undefined,
  { registry: { kinds, cache }, converterOf }: CustomKindsDeps,
): void {
  const before = served.get(name)
  if (crd && before && isSameShape(crd, before.crd) && isServed(crd)) {
    served.set(name, { ...before, crd })
    return
  }
  for (const kind of before?.kinds ?? []) kinds.remove(kind)
  served.delete(name)
  if (crd && isServed(crd)) {
    const builtinSchemas = kinds.findStored(definitions)?.kind.schemas ?? {}
    const isTerminating = (): boolean =>
      served.get(name)?.crd.metadata.deletionTimestamp !== undefined
    const versions = kindsOfCustomResource(withAcceptedNames(crd), builtinSchemas)
    const made = versions.map((kind) => withSchemaHooks(kind, versions, isTerminating))
    const convertObjects =
      crd.spec.conversion?.strategy === 'Webhook' ? converterOf?.(crd) : undefined
    for (const kind of made) kinds.add(kind, convertObjects)
    served.set(name, { crd, kinds: made })
  }
  // Watchers of the old kinds would continue in the old shape.
  const { group, names } = (crd ?? before?.crd)?.spec ?? {}
  if (before && group !== undefined && names)
    cache.resource(resourceKey(group, names.plural)).reset()
}

function isSameShape(a: CustomResourceDefinition, b: CustomResourceDefinition): boolean {
  return equalJson(a.spec, b.spec) && equalJson(a.status?.acceptedNames, b.status?.acceptedNames)
}

/** Names that belong to another definition are not served. */
function withAcceptedNames(crd: CustomResourceDefinition): CustomResourceDefinition {
  const { acceptedNames } = crd.status ?? {}
  if (!acceptedNames?.plural || !acceptedNames.kind) return crd
  return { ...crd, spec: { ...crd.spec, names: acceptedNames } }
}

function isServed(crd: CustomResourceDefinition): boolean {
  return isEstablished(crd)
}

function listen(
  { registry }: CustomKindsDeps,
  see: (name: string, crd: CustomResourceDefinition | undefined) => void,
  onReset: () => void,
): Disposable {
  const reader = registry.kinds.findStored(definitions)
  const listener: CacheListener = {
    onEvent({ type, object }: CacheEvent) {
      if (!reader) return
      const crd =
        type === 'put' ? typed<CustomResourceDefinition>(reader.frozen(object)) : undefined
      see(object.name, crd)
    },
    onBookmark: () => undefined,
    onReset,
  }
  return registry.cache.resource(storage).listen(listener)
}

function closing(queue: BoundedQueue<string>, signal: AbortSignal): Disposable {
  const onAbort = (): void => queue.close()
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', onAbort) }
}

/** Queues names for a later retry, for definitions whose objects are still being deleted. */
function laterQueue(
  clock: Clock,
  push: (name: string) => void,
): Disposable & { push(name: string): void } {
  const timers = new Map<string, Timer>()
  return {
    push(name) {
      timers.get(name)?.[Symbol.dispose]()
      timers.set(
        name,
        clock.setTimer(retryMs, () => {
          timers.delete(name)
          push(name)
        }),
      )
    },
    [Symbol.dispose]() {
      for (const timer of timers.values()) timer[Symbol.dispose]()
    },
  }
}

async function reconcile(
  name: string,
  deps: CustomKindsParts,
  signal: AbortSignal,
): Promise<'done' | 'again'> {
  try {
    const object = deps.objects.get(definitions, '', name)
    if (!object || signal.aborted) return 'done'
    const crd = typed<CustomResourceDefinition>(object)
    if (crd.metadata.deletionTimestamp !== undefined) return await cleanUp(crd, deps, signal)
    await writeStatus(crd, deps)
    return 'done'
  } catch (error) {
    if (signal.aborted || isStatusError(error, 'NotFound')) return 'done'
    deps.log.error('CRD is not served yet', {
      crd: name,
      error: asError(error),
    })
    return 'again'
  }
}

async function writeStatus(crd: CustomResourceDefinition, deps: CustomKindsDeps): Promise<void> {
  const { name } = crd.metadata
  const all = deps.objects
    .list(definitions)
    .map((object) => typed<CustomResourceDefinition>(object))
  const status = planStatus(crd, all, timeText(deps.clock.now()))
  if (equalJson(status, crd.status)) return
  await deps.objects.update(
    definitions,
    { namespace: '', name: name ?? '', subresource: 'status' },
    (next) => {
      next['status'] = status
    },
  )
}

const deleting = Object.freeze({
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
})

const deleted = Object.freeze({
  type: 'Terminating',
  status: 'False',
  reason: 'InstanceDeletionCompleted',
  message: 'removed all instances',
})

/** Deletes all objects first, then the definition. Objects with finalizers take time. */
async function cleanUp(
  crd: CustomResourceDefinition,
  { registry, objects, clock, isOwn }: CustomKindsParts,
  signal: AbortSignal,
): Promise<'done' | 'again'> {
  const { group, names } = crd.spec
  const name = crd.metadata.name ?? ''
  if (!(crd.metadata.finalizers ?? []).includes(cleanupFinalizer)) return 'done'
  const conditions = merged(crd.status?.conditions ?? [], [deleting], timeText(clock.now()))
  if (!equalJson(conditions, crd.status?.conditions)) {
    await objects.update(definitions, { namespace: '', name, subresource: 'status' }, (next) => {
      next['status'] = { ...crd.status, conditions }
    })
  }
  const reader = registry.kinds.findStored({ group, resource: names.plural })
  if (reader && !isOwn(crd)) {
    const scope: RequestScope = { ...serverScope(reader, signal), subresource: '' }
    const options = {
      isDryRun: false,
      object: { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions', metadata: {} },
    }
    await deleteCollection(everything, options, scope, registry)
    if (registry.cache.resource(reader.storage).size > 0) return 'again'
  }
  const ended = merged(conditions, [deleted], timeText(clock.now()))
  await objects.update(definitions, { namespace: '', name, subresource: 'status' }, (next) => {
    next['status'] = { ...crd.status, conditions: ended }
  })
  await objects.update(definitions, { namespace: '', name }, (next) => {
    next.metadata.finalizers = (next.metadata.finalizers ?? []).filter(
      (finalizer) => finalizer !== cleanupFinalizer,
    )
  })
  return 'done'
}
