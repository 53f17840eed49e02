import { StatusError, type AnyObject, type ConfigMap } from '@skerry/api'
import { ExpectedError, exitCodes, type Clock } from '@skerry/base'
import {
  anyObjects,
  ifThere,
  resources,
  type ClusterClient,
  type Discovery,
  type ResourceRef,
} from '@skerry/client'
import { manifestsBounds } from './limits-table.ts'
import { objectKey, objectText, type ManifestObject } from './manifest-objects.ts'

const { discoverMs, discoverLookMs } = manifestsBounds.applyManifests

/** The list of everything that was applied, so that what is in no manifest any more can be removed: a ConfigMap. */
export interface Inventory {
  readonly name: string
  /** The field manager of the list and of the objects. */
  readonly manager: string
  readonly labels?: Readonly<Record<string, string>>
  /** Further fields of the ConfigMap's data. */
  readonly data?: Readonly<Record<string, string>>
}

export const inventoryNamespace = 'kube-system'

export interface ApplyDeps {
  readonly cluster: ClusterClient
  readonly clock: Clock
  readonly print: (line: string) => void
  /** Returns true for an object, by its `objectKey`, that stays although these manifests have it no more. Default: none does. */
  readonly stays?: (key: string) => Promise<boolean>
}

/** One object of an inventory. */
interface Entry {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly namespace?: string; readonly name: string }
}

/**
 * Applies objects to a cluster by server-side apply, and removes those that an earlier call has made and that are
 * not among them any more. Objects that somebody else had made before are applied, and never removed. It can be
 * repeated after it broke off anywhere.
 */
export async function applyManifests(
  objects: readonly ManifestObject[],
  inventory: Inventory,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, print, stays } = deps
  const kinds = new ServedKinds(deps)
  const before = await readInventory(inventory, cluster, signal)
  const own = new Map(before.map((entry) => [objectKey(entry), entry]))
  const wanted = new Set<string>()
  for (const { place, object } of objects) {
    const resource = await kinds.resourceOf(object, place, signal)
    const placed = inNamespace(object, resource, place)
    const entry = entryOf(placed)
    wanted.add(objectKey(entry))
    const asked = { place, resource, manager: inventory.manager }
    if (!own.has(objectKey(entry)) && !(await isStrange(placed, asked, cluster, signal))) {
      // It is listed before it is made: after a crash it can still be removed.
      own.set(objectKey(entry), entry)
      await writeInventory([...own.values()], inventory, cluster, signal)
    }
    await apply(placed, asked, cluster, signal)
    print(`applied ${objectText(placed)}`)
  }
  const gone = [...own.values()].filter((entry) => !wanted.has(objectKey(entry)))
  for (const entry of gone.toReversed()) {
    if ((await stays?.(objectKey(entry))) !== true) {
      await remove(entry, kinds, cluster, signal)
      print(`removed ${objectText(entry)}`)
    }
    own.delete(objectKey(entry))
    await writeInventory([...own.values()], inventory, cluster, signal)
  }
  print(`${objects.length} objects are applied, ${gone.length} were removed`)
}

/** The way to an object of a manifest. */
interface Way {
  readonly place: string
  readonly resource: ResourceRef
  readonly manager: string
}

/** Returns true for an object that exists and that no earlier call has applied. */
async function isStrange(
  { metadata }: AnyObject,
  { resource, manager: own }: Way,
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await ifThere(cluster.resource(anyObjects(resource)).get(keyOf(metadata), signal))
  const managers = found?.metadata.managedFields ?? []
  return found !== undefined && !managers.some(({ manager }) => manager === own)
}

async function apply(
  object: AnyObject,
  { place, resource, manager }: Way,
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<void> {
  const request = {
    ...keyOf(object.metadata),
    type: 'apply' as const,
    patch: object,
    fieldManager: manager,
  }
  try {
    await cluster.resource(anyObjects(resource)).patch({ ...request, force: true }, signal)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const isWrong = error.reason === 'Invalid' || error.reason === 'BadRequest'
    const text = `Cannot apply ${place}: ${objectText(object)}: ${error.message}`
    throw new ExpectedError(text, isWrong ? exitCodes.usage : exitCodes.failure, { cause: error })
  }
}

async function remove(
  entry: Entry,
  kinds: ServedKinds,
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<void> {
  // With the definition of its kind the object is gone, too.
  const resource = await kinds.find(entry, signal)
  if (resource === undefined) return
  const request = { ...keyOf(entry.metadata), propagationPolicy: 'Background' as const }
  await ifThere(cluster.resource(anyObjects(resource)).delete(request, signal))
}

function keyOf({ namespace, name = '' }: { readonly namespace?: string; readonly name?: string }) {
  return { name, ...(namespace === undefined ? {} : { namespace }) }
}

function inNamespace(object: AnyObject, { isNamespaced }: ResourceRef, place: string): AnyObject {
  const { namespace } = object.metadata
  if (isNamespaced) {
    return namespace === undefined
      ? { ...object, metadata: { ...object.metadata, namespace: 'default' } }
      : object
  }
  if (namespace === undefined) return object
  const text = `Cannot apply ${place}: ${objectText(object)}: its kind has no namespaces; remove metadata.namespace`
  throw new ExpectedError(text, exitCodes.usage)
}

function entryOf({ apiVersion, kind, metadata }: AnyObject): Entry {
  return { apiVersion, kind, metadata: keyOf(metadata) }
}

async function readInventory(
  { name }: Pick<Inventory, 'name'>,
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<Entry[]> {
  const key = { namespace: inventoryNamespace, name }
  return entriesIn(await ifThere(cluster.resource(resources.configMaps).get(key, signal)))
}

/** Returns the objects in the list of an inventory's ConfigMap; none if it has no list. */
export function entriesIn(found: ConfigMap | undefined): Entry[] {
  const text = found?.data?.['objects']
  if (text === undefined) return []
  const parsed: unknown = JSON.parse(text)
  // The list is written below, and by nobody else.
  return Array.isArray(parsed) ? (parsed as Entry[]) : []
}

async function writeInventory(
  entries: readonly Entry[],
  { name, manager, labels, data }: Inventory,
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<void> {
  const key = { namespace: inventoryNamespace, name }
  const patch = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...key, ...(labels ? { labels } : {}) },
    data: { ...data, objects: JSON.stringify(entries) },
  }
  const request = { ...key, type: 'apply' as const, patch, fieldManager: manager, force: true }
  await cluster.resource(resources.configMaps).patch(request, signal)
}

/** The kinds that the cluster serves; asked again if one is missing, because a definition may have just been made. */
class ServedKinds {
  readonly #deps: ApplyDeps
  #discovery: Discovery | undefined

  constructor(deps: ApplyDeps) {
    this.#deps = deps
  }

  async find(
    { apiVersion, kind }: Pick<AnyObject, 'apiVersion' | 'kind'>,
    signal: AbortSignal,
  ): Promise<ResourceRef | undefined> {
    const [version = '', group = ''] = apiVersion.split('/').toReversed()
    this.#discovery ??= await this.#deps.cluster.discover(signal)
    return this.#discovery.resources.find(
      (each) => each.group === group && each.version === version && each.kind === kind,
    )
  }

  /** Rejects with an ExpectedError if the cluster does not serve the kind in time. */
  async resourceOf(object: AnyObject, place: string, signal: AbortSignal): Promise<ResourceRef> {
    const { clock } = this.#deps
    const endMs = clock.monotonicMs() + discoverMs
    for (;;) {
      const found = await this.find(object, signal)
      if (found !== undefined) return found
      if (clock.monotonicMs() >= endMs) break
      this.#discovery = undefined
      await clock.sleep(discoverLookMs, signal)
    }
    const text = `Cannot apply ${place}: the cluster serves no kind ${object.kind} of ${object.apiVersion}`
    throw new ExpectedError(text, exitCodes.usage)
  }
}
