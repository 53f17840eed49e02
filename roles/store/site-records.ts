import { ExpectedError, exitCodes } from '@skerry/base'
import type { EtcdLease, EtcdRecord, Snapshot, SnapshotSource } from '@skerry/etcd-snapshot'
import type { ForeignHistory, ForeignRow, StoreRow, StoreRows } from '@skerry/store'
import { storeMoveBounds } from './limits-table.ts'

const { namedPrefixesMax, leaseIdMax } = storeMoveBounds.siteRecords

/**
 * Keys of masters and replicas: who they are, and keys that they share, sealed. They stay behind: a single server has no
 * use for them, and after a change of keys they would give a later replica the old ones. The first server on etcd writes
 * them again.
 */
export const leftBehind = Object.freeze(['/replicas/', '/masters/', '/locks/'])

/** Returns the source of a snapshot with all of a store's history, its keys below `prefix`. */
export function recordsOfRows(rows: StoreRows, prefix: string): SnapshotSource {
  const root = rootOf(prefix)
  return {
    compacted: rows.compacted,
    scrubbed: rows.scrubbed,
    leases: rows.leases.map(({ leaseId, ttlSeconds }) => ({ id: BigInt(leaseId), ttlSeconds })),
    records: (async function* () {
      for await (const slice of rows.rows()) {
        const taken = slice.filter(({ key }) => isTaken(key))
        yield taken.map((row) => recordOf(row, root))
      }
    })(),
  }
}

function recordOf(row: StoreRow, root: string): EtcdRecord {
  const { revision, isDeleted, value, createRevision, version, leaseId } = row
  if (!row.key.startsWith('/')) {
    const text = `Cannot write a snapshot: key ${row.key} does not begin with a slash`
    throw new ExpectedError(text, exitCodes.dataDirectory)
  }
  const key = Buffer.from(root + row.key)
  return {
    revision,
    sub: 0,
    isDeleted,
    key,
    value,
    createRevision,
    version,
    lease: BigInt(leaseId),
  }
}

/** A first pass over a snapshot, which is checked on the way, so that nothing is touched if it is damaged. */
export interface SnapshotScan {
  readonly revision: number
  readonly compacted: number
  readonly records: number
  readonly leases: ReadonlySet<bigint>
}

/** Throws ExpectedError if nothing is below the prefix. */
export async function scanSnapshot(snapshot: Snapshot, prefix: string): Promise<SnapshotScan> {
  const keys = new SiteKeys(prefix)
  const leases = new Set<bigint>()
  let revision = Math.max(1, snapshot.compacted)
  let { compacted } = snapshot
  let records = 0
  let last = 0
  for await (const slice of snapshot.records()) {
    for (const record of slice) {
      revision = Math.max(revision, record.revision)
      if (keys.of(record) === undefined) continue
      // Here each revision has one change, so history begins after those that have several.
      if (record.revision === last) compacted = Math.max(compacted, last)
      last = record.revision
      records += 1
      if (record.lease !== 0n) leases.add(record.lease)
    }
  }
  if (records === 0) throw keys.nothing()
  return { revision, compacted, records, leases }
}

/** Returns a snapshot's changes below the prefix as rows of the embedded store. */
export function historyOfSnapshot(
  snapshot: Snapshot,
  scan: SnapshotScan,
  options: { prefix: string; onProgress?: ((records: number) => void) | undefined },
): ForeignHistory {
  const keys = new SiteKeys(options.prefix)
  const leaseIds = leaseNumbers(snapshot.leases, scan.leases)
  const leases = snapshot.leases.flatMap(({ id, ttlSeconds }) => {
    const leaseId = leaseIds.get(id)
    return leaseId === undefined ? [] : [{ leaseId, ttlSeconds }]
  })
  return {
    revision: scan.revision,
    compacted: scan.compacted,
    leases,
    rows: (async function* () {
      let done = 0
      for await (const slice of snapshot.records()) {
        const rows = slice.flatMap((record): ForeignRow[] => {
          const key = keys.of(record)
          if (key === undefined) return []
          const { revision, isDeleted, createRevision, lease } = record
          // A page of the snapshot must not stay in memory for one value.
          const value = Uint8Array.from(record.value)
          const leaseId = leaseIds.get(lease) ?? 0
          return [{ revision, key, isDeleted, createRevision, leaseId, value }]
        })
        done += slice.length
        options.onProgress?.(done)
        yield rows
      }
    })(),
  }
}

/** Numbers leases: etcd's may be larger than the embedded store's. Those without a key of ours stay behind. */
function leaseNumbers(
  all: readonly EtcdLease[],
  used: ReadonlySet<bigint>,
): ReadonlyMap<bigint, number> {
  const ids = all.map(({ id }) => id).filter((id) => used.has(id))
  const kept = new Map<bigint, number>()
  for (const id of ids) if (id > 0n && id < BigInt(leaseIdMax)) kept.set(id, Number(id))
  const taken = new Set(kept.values())
  let next = 1
  for (const id of ids) {
    if (kept.has(id)) continue
    while (taken.has(next)) next += 1
    taken.add(next)
    kept.set(id, next)
  }
  return kept
}

/** The keys of one site within an etcd that may be others', too. */
class SiteKeys {
  readonly #root: string
  readonly #rootBytes: Buffer
  readonly #others = new Set<string>()

  constructor(prefix: string) {
    this.#root = rootOf(prefix)
    this.#rootBytes = Buffer.from(`${this.#root}/`)
  }

  /** Returns undefined for a key that is not the site's, or stays behind. */
  of(record: EtcdRecord): string | undefined {
    const bytes = Buffer.from(record.key.buffer, record.key.byteOffset, record.key.length)
    if (!bytes.subarray(0, this.#rootBytes.length).equals(this.#rootBytes)) {
      if (this.#others.size < namedPrefixesMax) this.#others.add(firstSteps(bytes))
      return undefined
    }
    const name = bytes.subarray(this.#rootBytes.length - 1)
    const key = name.toString()
    if (Buffer.from(key).equals(name)) return isTaken(key) ? key : undefined
    throw new ExpectedError(
      `Cannot use the snapshot: a key of revision ${record.revision} below ${this.#root} is not valid Unicode`,
      exitCodes.dataDirectory,
    )
  }

  nothing(): ExpectedError {
    const others = [...this.#others].join(', ')
    const seen = others === '' ? 'it is empty' : `it has keys such as ${others}`
    return new ExpectedError(
      `Cannot use the snapshot: nothing in it is below ${this.#root}: ${seen}; pass another --etcd-prefix`,
      exitCodes.usage,
    )
  }
}

function firstSteps(key: Buffer): string {
  const [, steps] = /^((?:\/[\w.-]{1,64}){1,3})/.exec(key.toString('latin1')) ?? []
  return steps ?? '(others)'
}

function isTaken(key: string): boolean {
  return !leftBehind.some((prefix) => key.startsWith(prefix))
}

/** Throws ExpectedError for a prefix that is not an absolute path. */
function rootOf(prefix: string): string {
  const root = prefix.replace(/\/+$/, '')
  if (/^\/[\w./-]+$/.test(root)) return root
  const text = `--etcd-prefix ${prefix} is not a path like /skerry/site`
  throw new ExpectedError(text, exitCodes.usage)
}
