import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { diskFullError, ExpectedError, exitCodes, isDiskFull, syncDirectory } from '@skerry/base'
import { openSnapshot, writeSnapshot } from '@skerry/etcd-snapshot'
import {
  createStoreFromRows,
  openEtcdStore,
  openStoreRows,
  saveSnapshotOf,
  type EtcdStore,
  type EtcdStoreOptions,
  type StoreFromRows,
  type StoreRows,
} from '@skerry/store'
import { writeFileDurably } from '../runtime/data-directory.ts'
import { exists } from '../runtime/files.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { startFirstMember, type FirstMember } from './first-start.ts'
import { historyOfSnapshot, leftBehind, recordsOfRows, scanSnapshot } from './site-records.ts'

export interface MoveToEtcdOptions {
  /** The site's data directory, with store.db. The site is stopped, or has not opened its store yet. */
  readonly dataDir: string
  /** The data directory of the etcd member that is made: missing, or without member/. */
  readonly etcdDataDir: string
  readonly prefix: string
  /** The program: etcd 3.4 or newer, the one that will run on the directory. */
  readonly etcdPath: string
  readonly member: FirstMember
  readonly onProgress?: (records: number) => void
}

export interface MovedToEtcd {
  readonly revision: number
  /** The previous store, which is kept. Nothing reads it. */
  readonly keptPath: string
}

type MoveContext = Pick<RoleContext, 'clock' | 'random' | 'log' | 'signal'>

/**
 * Moves a site's embedded store into a new etcd of one member, with all revisions and the history: clients' watches go on.
 * Resolves undefined if there is no embedded store to move. After that, start etcd on `etcdDataDir`: it is a cluster of its
 * own already, so that its --initial-cluster flags have no effect.
 *
 * May be interrupted at any time and called again: the member gets its name when etcd has served it and was compared with
 * the store; the store is set aside after that. Throws ExpectedError, and then the site's store is as it was.
 */
export async function moveSiteToEtcd(
  options: MoveToEtcdOptions,
  context: MoveContext,
): Promise<MovedToEtcd | undefined> {
  const { dataDir, etcdDataDir } = options
  const storePath = join(dataDir, 'store.db')
  if (!(await exists(storePath))) return undefined
  const markPath = `${etcdDataDir}.move.json`
  try {
    if (await exists(join(etcdDataDir, 'member'))) await requireOwnMove(options, markPath)
    using rows = await openStoreRows(storePath, context.log)
    await makeMember(rows, { ...options, markPath }, context)
    const { revision } = rows
    const keptPath = await rows.retire('moved-to-etcd')
    await rm(markPath, { force: true })
    context.log.info('Site moved to etcd', { revision, keptPath })
    return { revision, keptPath }
  } catch (error) {
    if (error instanceof ExpectedError || !isDiskFull(error)) throw error
    throw diskFullError(`make ${etcdDataDir}`, error)
  }
}

/** A directory that a move has made, and that was interrupted before the store was set aside, is made again. */
async function requireOwnMove({ dataDir, etcdDataDir }: MoveToEtcdOptions, markPath: string) {
  if (await exists(markPath)) return
  throw new ExpectedError(
    `Cannot move ${join(dataDir, 'store.db')} to etcd: ${etcdDataDir} is there already, and which of the two is newer is unknown; move the one away that is out of date`,
    exitCodes.dataDirectory,
  )
}

async function makeMember(
  rows: StoreRows,
  options: MoveToEtcdOptions & { markPath: string },
  context: MoveContext,
): Promise<void> {
  const { etcdDataDir, prefix, etcdPath, member, onProgress, markPath } = options
  const directory = `${etcdDataDir}.part`
  await rm(directory, { recursive: true, force: true })
  try {
    const snap = join(directory, 'member', 'snap')
    await mkdir(snap, { recursive: true, mode: 0o700 })
    const source = recordsOfRows(rows, prefix)
    const written = { hasChecksum: false, onProgress, signal: context.signal }
    await writeSnapshot(join(snap, 'db'), source, written)
    const start = { etcdPath, directory, member, prefix }
    await startFirstMember(start, context, (store) => requireSame(store, rows))
    await writeFileDurably(markPath, `${JSON.stringify({ revision: rows.revision })}\n`)
    await rm(etcdDataDir, { recursive: true, force: true })
    await rename(directory, etcdDataDir)
    await syncDirectory(dirname(etcdDataDir))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Throws unless etcd has the same newest and compacted revision, and as many keys at it. */
async function requireSame(store: EtcdStore, rows: StoreRows): Promise<void> {
  const { revision, compacted } = rows
  const page = await store.list({ prefix: '/', revision, limit: 1 })
  const found = {
    // A lease may have ended meanwhile.
    revision: Math.min(revision, await store.revision()),
    compacted: await store.compactedRevision(),
    keys: page.entries.length + page.remaining,
  }
  const expected = { revision, compacted, keys: rows.count(leftBehind) }
  if (JSON.stringify(found) === JSON.stringify(expected)) return
  throw new ExpectedError(
    `Cannot move to etcd: it has ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}; nothing was changed`,
    exitCodes.failure,
  )
}

export interface MoveToSqliteOptions {
  /** The site's data directory, without a store.db. No API server writes to etcd any more. */
  readonly dataDir: string
  /** The running etcd, and the site's prefix in it. */
  readonly etcd: EtcdStoreOptions
  readonly onProgress?: (records: number) => void
}

/**
 * Moves a site's state from a running etcd into an embedded store, with its revisions and history. etcd is left as it
 * is. Throws ExpectedError if the data directory has a store, or somebody wrote meanwhile; then there is no new store.
 */
export async function moveSiteToSqlite(
  { dataDir, etcd, onProgress }: MoveToSqliteOptions,
  context: MoveContext,
): Promise<StoreFromRows> {
  const storePath = join(dataDir, 'store.db')
  if (await exists(storePath)) {
    const text = `Cannot move from etcd to ${storePath}: a store is there; move it away`
    throw new ExpectedError(text, exitCodes.dataDirectory)
  }
  const { prefix } = etcd
  const path = `${storePath}.snapshot.part`
  try {
    // An earlier try that was killed may have left one.
    await rm(path, { force: true })
    const saved = await saveSnapshotOf(etcd, path, context)
    await using snapshot = await openSnapshot(path, { signal: context.signal })
    const scan = await scanSnapshot(snapshot, prefix)
    await requireStill(scan.revision, saved.revision, etcd, context)
    const history = historyOfSnapshot(snapshot, scan, { prefix, onProgress })
    const made = await createStoreFromRows(storePath, history, context.signal)
    context.log.info('Site moved from etcd', { revision: made.revision })
    return made
  } finally {
    await rm(path, { force: true })
  }
}

/** A write that came after the snapshot would be lost. */
async function requireStill(
  found: number,
  asked: number,
  etcd: EtcdStoreOptions,
  context: MoveContext,
): Promise<void> {
  await using store = await openEtcdStore(etcd, context, context.signal)
  const now = await store.revision()
  if (found >= asked && now === found) return
  throw new ExpectedError(
    `Cannot move from etcd: its revision went from ${found} to ${now} meanwhile; stop everything that writes to it`,
    exitCodes.failure,
  )
}
