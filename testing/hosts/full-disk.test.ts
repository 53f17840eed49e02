import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, systemClock } from '@skerry/base'
import { openSqliteStore, type SqliteStore } from '@skerry/store'
import { mountSmallDisk } from './small-disk.ts'

const isFull = { name: 'StoreFullError' }

const count = async (store: SqliteStore, prefix: string): Promise<number> =>
  (await store.list({ prefix })).entries.length

const isRoot = process.getuid?.() === 0
const value = new Uint8Array(20_000)

async function fillStore(store: SqliteStore, prefix: string, value: Uint8Array): Promise<string[]> {
  const keys: string[] = []
  await assert.rejects(async () => {
    for (;;) {
      const key = `${prefix}${keys.length}`
      await store.write({ key, value })
      keys.push(key)
    }
  }, isFull)
  return keys
}

test(
  'on a full disk creates are refused, deletes go on, and writing resumes when there is space again',
  { skip: isRoot ? false : 'needs root' },
  async () => {
    await using disk = await mountSmallDisk(48)
    const path = join(disk.path, 'store.db')
    await using store = await openSqliteStore(
      path,
      { hasReserve: true },
      { clock: systemClock, log: silentLogger },
    )
    const { leaseId } = await store.grantLease(600)
    await store.write({ key: '/leased', value, leaseId })
    const before = await Promise.all(
      Array.from({ length: 200 }, (_, index) => store.write({ key: `/before/${index}`, value })),
    )
    assert.equal(before.length, 200)
    await disk.fill()
    const keys = await fillStore(store, '/fill/', value)
    keys.push(...(await fillStore(store, '/small/', new Uint8Array(10))))
    assert.equal(existsSync(`${path}.reserve`), true)
    for (let index = 0; index < 200; index += 1) await store.write({ key: `/before/${index}` })
    await store.revokeLease(leaseId)
    await store.write({ key: '/marked', value: Buffer.from('x'), isDeleteStep: true })
    assert.equal((await store.list({ prefix: '/before/' })).entries.length, 0)
    assert.equal((await store.get('/leased')).entry, undefined)
    assert.equal(existsSync(`${path}.reserve`), false)
    await assert.rejects(store.write({ key: '/more', value }), isFull)
    await store.compact(await store.revision())
    assert.equal((await count(store, '/fill/')) + (await count(store, '/small/')), keys.length)
    await disk.free()
    assert.equal((await store.write({ key: '/more', value })).isApplied, true)
    assert.equal(existsSync(`${path}.reserve`), true)
  },
)
