import { StatusError, type AnyObject } from '@skerry/api'
import { ExpectedError, exitCodes, type Clock } from '@skerry/base'
import {
  anyObjects,
  ifThere,
  resources,
  type ClusterClient,
  type Discovery,
  type ResourceRef,
} from '@skerry/client'
import { machineBounds } from './limits-table.ts'
import { objectText, type ManifestObject } from './read-manifests.ts'

const { discoverMs, discoverLookMs } = machineBounds.applyManifests
const ownName = 'skerry-add-ons'
/** The list of everything that was applied, so that what is in no manifest any more can be removed. */
const inventoryKey = { namespace: 'kube-system', name: ownName }

export interface ApplyDeps {
  readonly cluster: ClusterClient
  readonly clock: Clock
  readonly print: (line: string) => void
}

/** One object of the inventory. */
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
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, print } = deps
  const kinds = new ServedKinds(deps)
  const before = await readInventory(cluster, signal)
  const own = new Map(before.map((entry) => [entryText(entry), entry]))
  const wanted = new Set<string>()
  for (const { place, object } of objects) {
    const resource = await kinds.resourceOf(object, place, signal)
    const placed = inNamespace(object, resource, place)
    const entry = entryOf(placed)
    wanted.add(entryText(entry))
    if (!own.has(entryText(entry)) && !(await isStrange(placed, resource, cluster, signal))) {
      // It is listed before it is made: after a crash it can still be removed.
      own.set(entryText(entry), entry)
      await writeInventory([...own.values()], cluster, signal)
    }
    await apply(placed, { place, resource }, cluster, signal)
    print(`applied ${objectText(placed)}`)
  }
  const gone = [...own.values()].filter((entry) => !wanted.has(entryText(entry)))
  for (const entry of gone.toReversed()) {
    await remove(entry, kinds, cluster, signal)
    print(`removed ${objectText(entry)}`)
    own.delete(entryText(entry))
    await writeInventory([...own.values()], cluster, signal)
  }
  print(`${objects.length} objects are applied, ${gone.length} were removed`)
}

/** Returns true for an object that exists and that no earlier call has applied. */
async function isStrange(
  { metadata }: AnyObject,
  resource: ResourceRef,
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await ifThere(cluster.resource(anyObjects(resource)).get(keyOf(metadata), signal))
  const managers = found?.metadata.managedFields ?? []
  return found !== undefined && !managers.some(({ manager }) => manager === ownName)
}

async function apply(
  object: AnyObject,
  { place, resource }: { readonly place: string; readonly resource: ResourceRef },
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<void> {
  const request = {
    ...keyOf(object.metadata),
    type: 'apply' as const,
    patch: object,
    fieldManager: ownName,
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

/** The version does not count: an add-on may go on to a newer one. */
function entryText({ apiVersion, kind, metadata }: Entry): string {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : ''
  return `${group} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`
}

async function readInventory(cluster: ClusterClient, signal: AbortSignal): Promise<Entry[]> {
  const found = await ifThere(cluster.resource(resources.configMaps).get(inventoryKey, signal))
  const text = found?.data?.['objects']
  if (text === undefined) return []
  const parsed: unknown = JSON.parse(text)
  // The list is written below, and by nobody else.
  return Array.isArray(parsed) ? (parsed as Entry[]) : []
}

async function writeInventory(
  entries: readonly Entry[],
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<void> {
  const patch = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: inventoryKey,
    data: { objects: JSON.stringify(entries) },
  }
  const request = {
    ...inventoryKey,
    type: 'apply' as const,
    patch,
    fieldManager: ownName,
    force: true,
  }
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
