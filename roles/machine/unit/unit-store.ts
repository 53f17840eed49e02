import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createEncryptedStore, readEncryptionConfig, type EncryptedStore } from '@skerry/apiserver'
import { asError, syncDirectory } from '@skerry/base'
import { openSqliteStore } from '@skerry/store'
import { ownKeysPath } from '../../control-plane/access-files.ts'
import { encryptionConfigOf } from '../../control-plane/encryption-keys.ts'
import { writeFileDurably } from '../../runtime/data-directory.ts'
import { exists } from '../../runtime/files.ts'
import type { RoleContext } from '../../runtime/role-context.ts'
import { contentPrefix, readObjects, writeContent } from '../../site/units/unit-content.ts'
import { importSite } from '../../store/import-store.ts'
import { unitPaths } from './unit-state.ts'

const identityKey = '/registry/core/namespaces/kube-system'

type Context = Pick<RoleContext, 'clock' | 'random' | 'log' | 'metrics'>

/**
 * Makes the store of the unit's site of a content, with a key of its own for Secrets. A store that is there is put aside, and
 * the authority stays.
 */
export async function fillSite(
  dataDir: string,
  file: string,
  context: Context,
  signal: AbortSignal,
): Promise<void> {
  const { site } = unitPaths(dataDir)
  const identity = await identityOf(site, context, signal)
  const options = { file, dataDir: site, prefix: contentPrefix }
  const { replacedPath } = await importSite(options, { log: context.log, signal })
  if (replacedPath !== undefined) {
    context.log.info('Store was put aside', { path: replacedPath })
    await keepOnly(replacedPath)
  }
  const keys = ownKeysPath(site)
  if (!(await exists(keys))) {
    await mkdir(dirname(keys), { recursive: true, mode: 0o700 })
    const key = { name: 'key1', secret: randomBytes(32).toString('base64') }
    await writeFileDurably(keys, encryptionConfigOf([key]))
  }
  await completeStore(site, identity, context, signal)
}

/** Resolves with the namespace by whose uid hubs know the unit, if it was a cluster of its own before. */
async function identityOf(
  site: string,
  context: Context,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const isKnown = (await exists(join(site, 'store.db'))) && (await exists(ownKeysPath(site)))
  if (!isKnown) return undefined
  try {
    await using store = await openSite(site, context, signal)
    return (await store.get(identityKey)).entry?.value
  } catch (error) {
    signal.throwIfAborted()
    // A damaged store is put aside as any other.
    context.log.info('Unit becomes another cluster than before', { error: asError(error) })
    return undefined
  }
}

/** Removes the stores that earlier fills have put aside: each is as large as a store. */
async function keepOnly(path: string): Promise<void> {
  const kept = basename(path)
  for (const name of await readdir(dirname(path))) {
    const isOlder = name.startsWith('store.db.replaced') && !isPartOf(name, kept)
    if (isOlder) await rm(join(dirname(path), name), { force: true })
  }
}

/** A store has further files next to it, e.g. `-wal`. */
function isPartOf(name: string, store: string): boolean {
  return name === store || name.startsWith(`${store}-`)
}

/** Writes everything in the store of the stopped site into a content file, and resolves with its digest. */
export async function sealSite(
  dataDir: string,
  context: Context,
  signal: AbortSignal,
): Promise<string> {
  const { site, directory, content } = unitPaths(dataDir)
  await using store = await openSite(site, context, signal)
  const part = join(directory, 'sealing')
  const digest = await writeContent(part, { objects: await readObjects(store, signal) }, signal)
  await rename(part, content(digest))
  await syncDirectory(directory)
  return digest
}

/** Makes the unit the cluster that it was before, and encrypts its Secrets. */
async function completeStore(
  siteDirectory: string,
  identity: Uint8Array | undefined,
  context: Context,
  signal: AbortSignal,
): Promise<void> {
  await using store = await openSite(siteDirectory, context, signal)
  if (identity) await store.write({ key: identityKey, value: identity, expectRevision: 0 })
  const { entries } = await store.list({ prefix: '/registry/core/secrets/' })
  for (const { key, value, modRevision: expectRevision } of entries) {
    signal.throwIfAborted()
    await store.write({ key, value, expectRevision })
  }
  if (entries.length === 0) return
  // The plain values are history now.
  await store.compact(await store.revision())
}

async function openSite(
  directory: string,
  context: Context,
  signal: AbortSignal,
): Promise<EncryptedStore> {
  const { clock, log } = context
  const text = await readFile(ownKeysPath(directory), 'utf8')
  const plan = await readEncryptionConfig(text, context)
  const path = join(directory, 'store.db')
  return createEncryptedStore(await openSqliteStore(path, {}, { clock, log }, signal), plan)
}
