import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import { isJsonObject, type AnyObject } from '@skerry/api'
import { openSnapshot, writeSnapshot, type EtcdRecord } from '@skerry/etcd-snapshot'
import type { Entry, Store } from '@skerry/store'
import { siteBounds } from '../limits-table.ts'
import { lentKey } from './lent-guard.ts'
import { blockKey } from './node-block.ts'
import { isLeftUnread, resourceOfKey, type StoredObject } from './unit-share.ts'

/** The prefix of all keys in a content, which is a snapshot of etcd. */
export const contentPrefix = '/skerry/site'

const { pageEntries, objectsMax } = siteBounds.units.content

/** An object with the revisions that it has in its store. */
export interface ReadObject extends StoredObject {
  readonly modRevision: number
  readonly createRevision: number
}

/** Reads all objects but events. Throws ExpectedError for one that cannot be read, and for more than can be handed over. */
export async function readObjects(store: Store, signal: AbortSignal): Promise<ReadObject[]> {
  const found: ReadObject[] = []
  let after: string | undefined
  let revision = 0
  for (;;) {
    signal.throwIfAborted()
    const page = await store.list({
      prefix: '/registry/',
      limit: pageEntries,
      revision,
      ...(after === undefined ? {} : { after }),
    })
    revision = page.revision
    for (const entry of page.entries) {
      const resource = resourceOfKey(entry.key)
      if (resource === undefined || isLeftUnread(resource)) continue
      const { key, modRevision, createRevision } = entry
      found.push({ key, resource, object: objectOf(entry), modRevision, createRevision })
    }
    if (found.length > objectsMax) {
      const text = `Cannot hand a unit over: the cluster has more than ${objectsMax} objects`
      throw new ExpectedError(text, exitCodes.failure)
    }
    after = page.entries.at(-1)?.key
    if (!page.more) return found
  }
}

function objectOf({
  key,
  value,
  isDamaged,
}: Pick<Entry, 'key' | 'value' | 'isDamaged'>): AnyObject {
  const object = isDamaged ? undefined : parsed(value)
  if (object !== undefined) return object
  throw new ExpectedError(
    `Cannot hand a unit over: ${key} cannot be read; delete that object`,
    exitCodes.dataDirectory,
  )
}

function parsed(value: Uint8Array): AnyObject | undefined {
  try {
    const object: unknown = JSON.parse(Buffer.from(value).toString())
    // Every stored object has metadata: the server has checked it.
    return isJsonObject(object) && isJsonObject(object['metadata'])
      ? (object as unknown as AnyObject)
      : undefined
  } catch {
    // Without its key a value cannot be parsed.
    return undefined
  }
}

export interface Content {
  readonly objects: readonly ReadObject[]
  /** The keys of those that their owner only lends. */
  readonly lent?: readonly string[]
  /** The range from which its new nodes get theirs. */
  readonly block?: string | undefined
}

/** Writes a content file, and resolves with its digest. */
export async function writeContent(
  path: string,
  { objects, lent, block }: Content,
  signal: AbortSignal,
): Promise<string> {
  await rm(path, { force: true })
  const records: EtcdRecord[] = []
  for (const each of objects.toSorted((a, b) => a.modRevision - b.modRevision)) {
    const { key, object, ...revisions } = each
    const last = records.at(-1)
    // In etcd several keys may have been written at once.
    const place = last?.revision === revisions.modRevision ? last.sub + 1 : 0
    records.push({ ...recordOf(key, object, revisions), sub: place })
  }
  for (const [key, value] of Object.entries({ [lentKey]: lent, [blockKey]: block })) {
    if (value === undefined) continue
    const revision = (records.at(-1)?.revision ?? 1) + 1
    records.push(recordOf(key, value, { modRevision: revision, createRevision: revision }))
  }
  const newest = records.at(-1)?.revision ?? 1
  const source = {
    // There is no history before it.
    compacted: newest,
    scrubbed: newest,
    leases: [],
    records: (async function* () {
      for (let at = 0; at < records.length; at += pageEntries) {
        yield records.slice(at, at + pageEntries)
      }
    })(),
  }
  await writeSnapshot(path, source, { hasChecksum: true, signal })
  return digestOf(path, signal)
}

function recordOf(
  key: string,
  value: unknown,
  revisions: Pick<ReadObject, 'modRevision' | 'createRevision'>,
): EtcdRecord {
  return {
    revision: revisions.modRevision,
    sub: 0,
    isDeleted: false,
    key: Buffer.from(contentPrefix + key),
    value: Buffer.from(JSON.stringify(value)),
    createRevision: revisions.createRevision,
    version: 1,
    lease: 0n,
  }
}

/** Reads the objects of a content file. Throws ExpectedError if it is damaged. */
export async function readContent(path: string, signal: AbortSignal): Promise<StoredObject[]> {
  await using snapshot = await openSnapshot(path, { signal })
  const found: StoredObject[] = []
  for await (const slice of snapshot.records()) {
    for (const record of slice) {
      const key = Buffer.from(record.key).toString().slice(contentPrefix.length)
      const resource = resourceOfKey(key)
      if (resource === undefined || record.isDeleted) continue
      const value = Uint8Array.from(record.value)
      found.push({ key, resource, object: objectOf({ key, value }) })
      if (found.length > objectsMax) {
        const text = `Cannot take a unit back: its content has more than ${objectsMax} objects`
        throw new ExpectedError(text, exitCodes.failure)
      }
    }
  }
  return found
}

/** Resolves with the SHA-256 of a file, in hexadecimal digits. */
export async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash, { signal })
  return hash.digest('hex')
}
