import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EtcdRecord } from '../records/etcd-record.ts'
import type { Snapshot } from '../snapshot-reader.ts'

/** Makes changes of all shapes: several in one revision, deletes, leases, and values from nothing to several pages. */
export function historyOf(size: number): EtcdRecord[] {
  return Array.from({ length: size }, (_, index): EtcdRecord => {
    const revision = 2 + Math.floor(index / 2)
    const at = { revision, sub: index % 2, key: new Uint8Array(Buffer.from(`/key/${index % 97}`)) }
    if (index % 11 === 10) {
      const gone = { value: new Uint8Array(0), createRevision: 0, version: 0, lease: 0n }
      return { ...at, isDeleted: true, ...gone }
    }
    const bytes = index % 1_000 === 999 ? 20_000 : index % 300
    const value = new Uint8Array(bytes).fill(index % 256)
    const lease = index % 7 === 0 ? BigInt(index) - 20n : 0n
    return { ...at, isDeleted: false, value, createRevision: revision, version: 1, lease }
  })
}

export async function* sourceOf(
  records: readonly EtcdRecord[],
): AsyncGenerator<readonly EtcdRecord[], void> {
  for (let at = 0; at < records.length; at += 500) yield records.slice(at, at + 500)
}

/** Returns all changes, with bytes of their own. */
export async function collect(snapshot: Snapshot): Promise<EtcdRecord[]> {
  const all: EtcdRecord[] = []
  for await (const slice of snapshot.records()) {
    for (const record of slice) {
      const { key, value } = record
      all.push({ ...record, key: Uint8Array.from(key), value: Uint8Array.from(value) })
    }
  }
  return all
}

/** Calls with a path in a directory that is gone afterwards. */
export async function inScratch(work: (path: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-snapshot-'))
  try {
    await work(join(directory, 'snapshot.db'))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
