import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMetrics, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { openSqliteStore } from '@skerry/store'
import { readContent, writeContent, type ReadObject } from '../../site/units/unit-content.ts'
import { fillSite, sealSite } from './unit-store.ts'
import { readState, unitPaths, writeState } from './unit-state.ts'

const context = {
  clock: systemClock,
  random: systemRandom,
  log: silentLogger,
  metrics: createMetrics(),
}
const { signal } = new AbortController()
const secretWord = 'hunter2'

function stored(resource: string, named: string, revision: number, more: object = {}): ReadObject {
  const [namespace, name] = named.split('/')
  return {
    key: `/registry/${resource}/${named}`,
    resource,
    object: { apiVersion: 'v1', kind: 'Any', metadata: { namespace, name, uid: named }, ...more },
    modRevision: revision,
    createRevision: revision - 1,
  }
}

const objects = [
  stored('core/pods', 'shop/redis-0', 40),
  stored('core/secrets', 'shop/password', 17, { data: { word: secretWord } }),
]

async function inDirectory(play: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-unit-'))
  try {
    await play(dataDir)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

test('a filled store has the objects under their revisions, and Secrets under a key of its own', async () => {
  await inDirectory(async (dataDir) => {
    const file = join(dataDir, 'content.db')
    await writeContent(file, { objects, lent: [] }, signal)
    await fillSite(dataDir, file, context, signal)
    const path = join(unitPaths(dataDir).site, 'store.db')
    await using store = await openSqliteStore(path, {}, context)
    const pod = (await store.get('/registry/core/pods/shop/redis-0')).entry
    assert.deepEqual([pod?.modRevision, pod?.createRevision], [40, 39])
    const secret = (await store.get('/registry/core/secrets/shop/password')).entry
    assert.doesNotMatch(Buffer.from(secret?.value ?? '').toString('latin1'), /hunter2/)
  })
})

test('a content of a parent on etcd, where several objects may share a revision, is filled as a whole', async () => {
  await inDirectory(async (dataDir) => {
    const file = join(dataDir, 'content.db')
    const shared = [stored('core/services', 'shop/web', 40), stored('core/pods', 'shop/till', 40)]
    await writeContent(file, { objects: [...objects, ...shared], lent: [] }, signal)
    await fillSite(dataDir, file, context, signal)
    const path = join(unitPaths(dataDir).site, 'store.db')
    await using store = await openSqliteStore(path, {}, context)
    const { entries } = await store.list({ prefix: '/registry/' })
    assert.deepEqual(
      entries.map(({ key }) => key),
      [...objects, ...shared].map(({ key }) => key).toSorted(),
    )
    assert.equal(new Set(entries.map(({ modRevision }) => modRevision)).size, 4)
  })
})

test('a sealed content has the objects in plain text, and a second fill keeps the older store', async () => {
  await inDirectory(async (dataDir) => {
    const file = join(dataDir, 'content.db')
    await writeContent(file, { objects, lent: [] }, signal)
    await fillSite(dataDir, file, context, signal)
    const keys = await readFile(join(unitPaths(dataDir).site, 'pki', 'encryption.yaml'), 'utf8')
    const digest = await sealSite(dataDir, context, signal)
    const sealed = await readContent(unitPaths(dataDir).content(digest), signal)
    const byKey = (a: { key: string }, b: { key: string }): number => (a.key < b.key ? -1 : 1)
    assert.deepEqual(
      sealed.toSorted(byKey).map(({ object }) => object),
      objects.map(({ object }) => object),
    )
    await fillSite(dataDir, file, context, signal)
    const again = await readFile(join(unitPaths(dataDir).site, 'pki', 'encryption.yaml'), 'utf8')
    assert.equal(again, keys)
    await fillSite(dataDir, file, context, signal)
    const stores = (await readdir(unitPaths(dataDir).site)).filter((name) =>
      /^store\.db(\.replaced.*)?$/.test(name),
    )
    assert.equal(stores.length, 2, `the newest and the one before: ${stores.join(', ')}`)
  })
})

test('the records of a unit outlive the process, and a damaged file is refused', async () => {
  await inDirectory(async (dataDir) => {
    const firstState = await readState(dataDir)
    assert.deepEqual(firstState.node, { generation: 0, follows: 'parent' })
    const record = { generation: 3, phase: 'open', content: 'a'.repeat(64) } as const
    const state = { ...firstState, unit: 'hall', record }
    await writeState(dataDir, state)
    assert.deepEqual(await readState(dataDir), state)
    await rm(unitPaths(dataDir).state)
    await writeState(dataDir, JSON.parse('{}'))
    await assert.rejects(readState(dataDir), /says what its unit does; restore it from a backup/)
  })
})
