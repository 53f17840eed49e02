import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@skerry/base'
import { openSqliteStore, type Store } from '@skerry/store'
import { guardLent, keptKeys, lentKey } from './lent-guard.ts'

const key = '/registry/apps/daemonsets/shop/logs'
const other = '/registry/core/configmaps/shop/own'

function valueOf(object: object): Buffer {
  return Buffer.from(JSON.stringify({ metadata: { name: 'logs' }, ...object }))
}

async function inUnit(play: (store: Store) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-lent-'))
  try {
    const deps = { clock: systemClock, log: silentLogger }
    await using store = await openSqliteStore(join(directory, 'store.db'), {}, deps)
    assert.equal(await guardLent(store), store, 'a cluster that is not a unit')
    await store.write({ key, value: valueOf({ spec: { a: 1 } }) })
    await store.write({ key: lentKey, value: Buffer.from(JSON.stringify([key])) })
    await play(await guardLent(store))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

test('a unit writes the state of objects that it borrows, and neither changes nor deletes them otherwise', async () => {
  await inUnit(async (store) => {
    await store.write({ key, value: valueOf({ spec: { a: 1 }, status: { numberReady: 1 } }) })
    await assert.rejects(store.write({ key, value: valueOf({ spec: { a: 2 } }) }), {
      reason: 'Forbidden',
      message: /unit of another one, which lends it the object; change it there/,
    })
    await assert.rejects(store.write({ key }), { reason: 'Forbidden' })
    await store.write({ key: other, value: valueOf({}) })
    const { entry } = await store.get(key)
    const expected = { metadata: { name: 'logs' }, spec: { a: 1 }, status: { numberReady: 1 } }
    assert.deepEqual(JSON.parse(Buffer.from(entry?.value ?? '').toString()), expected)
  })
})

test('a unit goes on by itself with endpoints and with objects of no namespace', () => {
  const stored = (resource: string, namespace: string | undefined, kind: string) => ({
    key: resource,
    resource,
    object: {
      apiVersion: 'v1',
      kind,
      metadata: { name: 'a', ...(namespace ? { namespace } : {}) },
    },
  })
  const lent = [
    stored('core/services', 'shop', 'Service'),
    stored('core/endpoints', 'shop', 'Endpoints'),
    stored('discovery.k8s.io/endpointslices', 'shop', 'EndpointSlice'),
    stored('core/namespaces', undefined, 'Namespace'),
    stored('storage.k8s.io/storageclasses', undefined, 'StorageClass'),
  ]
  assert.deepEqual(keptKeys(lent), ['core/services', 'core/namespaces'])
})
