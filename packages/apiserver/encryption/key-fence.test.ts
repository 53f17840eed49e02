import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, systemClock } from '@skerry/base'
import { openSqliteStore, StoreUnavailableError, type SqliteStore } from '@skerry/store'
import { createEncryptedStore, type EncryptedStore } from './encrypted-store.ts'
import { readEncryptionConfig, type EncryptionPlan } from './encryption-config.ts'

const deps = { clock: systemClock, log: silentLogger }
const record = '/record'
const secret = '/registry/core/secrets/default/a'

function planOf(name: string): Promise<EncryptionPlan> {
  const keys = [{ name, secret: Buffer.alloc(32, name).toString('base64') }]
  const config = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [{ aesgcm: { keys } }] }],
  }
  return readEncryptionConfig(JSON.stringify(config), deps)
}

interface Scene extends AsyncDisposable {
  readonly store: SqliteStore
  readonly encrypted: EncryptedStore
  /** Puts other keys into the record; the server under test does not know that. */
  replaceKeys(): Promise<void>
  readonly renewals: () => number
}

/** A server that shares its keys; `learns` is false if it cannot read the record. */
async function openScene({ learns = true } = {}): Promise<Scene> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-fence-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const store = stack.use(await openSqliteStore(join(directory, 'store.db'), {}, deps))
  const put = async (text: string): Promise<number> =>
    (await store.write({ key: record, value: Buffer.from(text) })).revision
  const newPlan = await planOf('new')
  let revision = await put('old')
  let renewals = 0
  const encrypted: EncryptedStore = createEncryptedStore(store, await planOf('old'), {
    required: () => ({ key: record, revision }),
    async renew() {
      renewals += 1
      if (!learns) return
      revision = (await store.get(record)).entry?.modRevision ?? 0
      encrypted.setPlan(newPlan)
    },
  })
  const owned = stack.move()
  return {
    store,
    encrypted,
    replaceKeys: async () => void (await put('new')),
    renewals: () => renewals,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function prefixOf(store: SqliteStore): Promise<string> {
  const { entry } = await store.get(secret)
  return Buffer.from(entry?.value ?? [])
    .toString('latin1')
    .slice(0, 22)
}

test('a write with keys that were replaced is encrypted again with those in use', async () => {
  await using scene = await openScene()
  const { store, encrypted } = scene
  const write = { key: secret, value: Buffer.from('{}') }
  const { revision } = await encrypted.write(write)
  assert.equal(await prefixOf(store), 'k8s:enc:aesgcm:v1:old:')
  await scene.replaceKeys()
  assert.ok((await encrypted.write({ ...write, expectRevision: revision })).isApplied)
  assert.equal(await prefixOf(store), 'k8s:enc:aesgcm:v1:new:')
  assert.equal(scene.renewals(), 1)
})

test('a server that cannot learn the keys writes nothing encrypted, and all else', async () => {
  await using scene = await openScene({ learns: false })
  const { store, encrypted } = scene
  await scene.replaceKeys()
  await assert.rejects(
    encrypted.write({ key: secret, value: Buffer.from('{}') }),
    StoreUnavailableError,
  )
  assert.equal((await store.get(secret)).entry, undefined)
  const plain = { key: '/registry/core/configmaps/default/a', value: Buffer.from('{}') }
  assert.ok((await encrypted.write(plain)).isApplied)
})

test('a conflict is a conflict, whatever the keys are', async () => {
  await using scene = await openScene()
  const { encrypted } = scene
  await scene.replaceKeys()
  const stale = { key: secret, value: Buffer.from('{}'), expectRevision: 99 }
  const result = await encrypted.write(stale)
  assert.equal(result.isApplied, false)
  assert.equal(scene.renewals(), 0)
})
