import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import type { ConfigMap } from '@skerry/api'
import {
  asError,
  createBackoff,
  messageOf,
  sayWhenNew,
  type Backoff,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { ifThere, resources, type ClusterClient } from '@skerry/client'
import {
  applyManifests,
  entriesIn,
  inventoryNamespace,
  manifestObjects,
  objectKey,
  type Inventory,
  type ManifestObject,
} from '@skerry/manifests'
import { siteBounds } from '../limits-table.ts'
import { listManifestFiles, readManifestFile, type ManifestFile } from './manifest-files.ts'

const { lookMs: lookMsDefault, objectsMax, retry } = siteBounds.manifests
const manager = 'skerry-manifests'
/** Marks the ConfigMaps that say what each file has brought. */
const label = 'edge.skerry.io/manifests'

export interface FollowedDirectory {
  readonly directory: string
  /** The name of this master. It leaves the objects of files that only another one had. */
  readonly master: string
  /** The pause between two looks at the files, in milliseconds. If omitted, two seconds. */
  readonly lookMs?: number
}

export interface FollowDeps {
  readonly cluster: ClusterClient
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** A file as the last look found it. */
interface Known {
  stamp: string
  /** The stamp of the content that is in the cluster; none while it is not. */
  applied: string | undefined
  /** The objects of the content that was read last, by their keys. */
  keys: ReadonlySet<string>
  notBeforeMs: number
  readonly backoff: Backoff
}

/**
 * Keeps the objects of the manifests in a directory in the cluster: applies what is new or changed, and removes what no
 * file has any more, until the signal aborts. A file that cannot be applied keeps what it has brought, and the ConfigMap
 * that lists its objects says why.
 */
export async function followManifests(
  followed: FollowedDirectory,
  deps: FollowDeps,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(followed.directory, { recursive: true, mode: 0o700 })
  const { lookMs = lookMsDefault } = followed
  const follower = new Follower(followed, deps)
  for (;;) {
    await follower.look(signal)
    await deps.clock.sleep(lookMs, signal)
  }
}

class Follower {
  readonly #followed: FollowedDirectory
  readonly #deps: FollowDeps
  readonly #known = new Map<string, Known>()
  readonly #say: (faults: readonly string[]) => void
  /** The names at the last look for files that are gone. */
  #names: string | undefined

  constructor(followed: FollowedDirectory, deps: FollowDeps) {
    this.#followed = followed
    this.#deps = deps
    this.#say = sayWhenNew((why) => deps.log.error('Manifests are not followed', { why }))
  }

  async look(signal: AbortSignal): Promise<void> {
    try {
      const files = await listManifestFiles(this.#followed.directory)
      const settled = this.#settled(files)
      const texts = await this.#readChanged(settled, signal)
      for (const [name, objects] of texts) await this.#apply(name, objects, signal)
      // A file that is still being written may be the new name of one that is gone.
      if (settled.length === files.length) await this.#removeGone(files, signal)
      this.#say([])
    } catch (error) {
      signal.throwIfAborted()
      this.#say([messageOf(error)])
    }
  }

  /** Returns the files that have not changed since the last look, so that half a file is never applied. */
  #settled(files: readonly ManifestFile[]): ManifestFile[] {
    const names = new Set(files.map(({ name }) => name))
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name)
    return files.filter(({ name, stamp, isSkipped }) => {
      if (isSkipped) return true
      const known = this.#known.get(name)
      if (known?.stamp === stamp) return true
      const backoff = known?.backoff ?? createBackoff(retry, this.#deps.random)
      backoff.reset()
      const applied = known?.applied
      this.#known.set(name, {
        stamp,
        applied,
        keys: known?.keys ?? new Set(),
        notBeforeMs: 0,
        backoff,
      })
      return false
    })
  }

  /** All of them are read before one is applied: an object may have moved from one file to another. */
  async #readChanged(
    files: readonly ManifestFile[],
    signal: AbortSignal,
  ): Promise<Map<string, readonly ManifestObject[]>> {
    const changed = new Map<string, readonly ManifestObject[]>()
    const nowMs = this.#deps.clock.monotonicMs()
    for (const { name, stamp, isSkipped } of files) {
      const known = this.#known.get(name)
      if (isSkipped || known === undefined) continue
      if (known.applied === stamp || nowMs < known.notBeforeMs) continue
      try {
        const text = await readManifestFile(this.#followed.directory, name)
        const objects = manifestObjects([{ name, text }], objectsMax)
        known.keys = new Set(objects.flatMap(({ object }) => keysOf(object)))
        changed.set(name, objects)
      } catch (error) {
        await this.#fail(name, error, signal)
      }
    }
    return changed
  }

  async #apply(
    name: string,
    objects: readonly ManifestObject[],
    signal: AbortSignal,
  ): Promise<void> {
    const known = this.#known.get(name)
    if (known === undefined) return
    const { cluster, clock, log } = this.#deps
    const print = (line: string): void => log.debug('Manifest', { file: name, line })
    try {
      const stays = this.#staysFor(name, signal)
      const inventory = this.#inventoryOf(name)
      await applyManifests(objects, inventory, { cluster, clock, print, stays }, signal)
      await this.#writeState(name, 'Applied', `${objects.length} objects`, signal)
      known.applied = known.stamp
      known.backoff.reset()
      log.info('Manifest is applied', { file: name, objects: objects.length })
    } catch (error) {
      await this.#fail(name, error, signal)
    }
  }

  async #fail(name: string, error: unknown, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { clock, log } = this.#deps
    const known = this.#known.get(name)
    if (known) known.notBeforeMs = clock.monotonicMs() + known.backoff.nextMs()
    log.error('Manifest is not applied', { file: name, error: asError(error) })
    await this.#writeState(name, 'Failed', messageOf(error), signal)
  }

  /** Removes what files have brought that are gone, also while no site ran. */
  async #removeGone(files: readonly ManifestFile[], signal: AbortSignal): Promise<void> {
    const names = new Set(files.map(({ name }) => name))
    const text = [...names].join('\n')
    if (text === this.#names) return
    const { cluster, clock, log } = this.#deps
    for (const { metadata, data = {} } of await this.#inventories(signal)) {
      const { file = '', master = '' } = data
      if (names.has(file)) continue
      if (master !== this.#followed.master) {
        log.info('Objects of a manifest stay: another master has applied it', { file, master })
        continue
      }
      const stays = this.#staysFor(file, signal)
      const print = (line: string): void => log.debug('Manifest', { file, line })
      await applyManifests([], this.#inventoryOf(file), { cluster, clock, print, stays }, signal)
      const key = { namespace: inventoryNamespace, name: metadata.name ?? '' }
      await ifThere(cluster.resource(resources.configMaps).delete(key, signal))
      log.info('Objects of a manifest that is gone are removed', { file })
    }
    this.#names = text
  }

  /** Resolves true for objects that another file has, or has brought. Most files lose none, and nothing is asked for them. */
  #staysFor(name: string, signal: AbortSignal): (key: string) => Promise<boolean> {
    let others: Promise<ReadonlySet<string>> | undefined
    return async (key) => (await (others ??= this.#keysOfOthers(name, signal))).has(key)
  }

  async #keysOfOthers(name: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const others = new Set<string>()
    for (const [other, { keys }] of this.#known) {
      if (other !== name) for (const key of keys) others.add(key)
    }
    for (const found of await this.#inventories(signal)) {
      if (found.data?.['file'] === name) continue
      for (const entry of entriesIn(found)) others.add(objectKey(entry))
    }
    return others
  }

  async #inventories(signal: AbortSignal): Promise<readonly ConfigMap[]> {
    const request = { namespace: inventoryNamespace, labelSelector: `${label}=true` }
    return (await this.#deps.cluster.resource(resources.configMaps).list(request, signal)).items
  }

  #inventoryOf(file: string): Inventory {
    const { master } = this.#followed
    return {
      name: inventoryName(file),
      manager,
      labels: { [label]: 'true' },
      data: { file, master },
    }
  }

  /** The writer is another one than the list's, so that neither takes the other's fields away. */
  async #writeState(
    file: string,
    state: 'Applied' | 'Failed',
    message: string,
    signal: AbortSignal,
  ): Promise<void> {
    const name = inventoryName(file)
    const patch = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: inventoryNamespace, name, labels: { [label]: 'true' } },
      data: { file, master: this.#followed.master, state, message },
    }
    const key = { namespace: inventoryNamespace, name }
    const request = { ...key, type: 'apply' as const, patch, force: true }
    await this.#deps.cluster
      .resource(resources.configMaps)
      .patch({ ...request, fieldManager: `${manager}-state` }, signal)
  }
}

/** Returns the keys of an object; without a namespace it may be of a kind that has none, or go to `default`. */
function keysOf(object: ManifestObject['object']): string[] {
  if (object.metadata.namespace !== undefined) return [objectKey(object)]
  const metadata = { ...object.metadata, namespace: 'default' }
  return [objectKey(object), objectKey({ ...object, metadata })]
}

function inventoryName(file: string): string {
  const words = file
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40)
  return `manifest-${words}-${createHash('sha256').update(file).digest('hex').slice(0, 8)}`
}
