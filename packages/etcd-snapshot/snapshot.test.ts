import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { ExpectedError } from '@skerry/base'
import { openSnapshot } from './snapshot-reader.ts'
import { writeSnapshot } from './snapshot-writer.ts'
import { collect, historyOf, inScratch, sourceOf } from './testing/histories.ts'

const sizes = [0, 1, 3, 200, 5_000]

for (const size of sizes) {
  test(`a snapshot of ${size} changes reads back as it was written`, () =>
    inScratch(async (path) => {
      const records = historyOf(size)
      const leases = [
        { id: 7n, ttlSeconds: 60 },
        { id: -5n, ttlSeconds: 1 },
      ]
      const source = { compacted: 2, scrubbed: 1, leases, records: sourceOf(records) }
      await writeSnapshot(path, source, { hasChecksum: true })
      await using snapshot = await openSnapshot(path)
      assert.equal(snapshot.compacted, 2)
      assert.equal(snapshot.hasUsers, false)
      assert.deepEqual(snapshot.leases.toSorted(byId), leases.toSorted(byId))
      assert.deepEqual(await collect(snapshot), records)
      assert.deepEqual(await collect(snapshot), records, 'the second pass sees the same')
    }))
}

function byId(a: { id: bigint }, b: { id: bigint }): number {
  return a.id < b.id ? -1 : 1
}

test('a copy of a member’s database has no checksum and is read when that is said', () =>
  inScratch(async (path) => {
    const records = historyOf(50)
    const source = { compacted: 0, scrubbed: 0, leases: [], records: sourceOf(records) }
    await writeSnapshot(path, source, { hasChecksum: false })
    await assert.rejects(openSnapshot(path), /has no checksum.*--skip-hash-check/)
    await using snapshot = await openSnapshot(path, { mayLackChecksum: true })
    assert.deepEqual(await collect(snapshot), records)
  }))

test('a snapshot never replaces a file', () =>
  inScratch(async (path) => {
    await writeFile(path, 'mine')
    const source = { compacted: 0, scrubbed: 0, leases: [], records: sourceOf([]) }
    await assert.rejects(writeSnapshot(path, source, { hasChecksum: true }), ExpectedError)
    assert.equal(await readFile(path, 'utf8'), 'mine')
  }))

test('a snapshot whose source fails leaves no file behind', () =>
  inScratch(async (path) => {
    async function* records() {
      yield historyOf(10)
      throw new Error('gone')
    }
    const source = { compacted: 0, scrubbed: 0, leases: [], records: records() }
    await assert.rejects(writeSnapshot(path, source, { hasChecksum: true }), /gone/)
    await assert.rejects(readFile(path), { code: 'ENOENT' })
    await assert.rejects(readFile(`${path}.part`), { code: 'ENOENT' })
  }))
