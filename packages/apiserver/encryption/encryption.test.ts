import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock, silentLogger } from '@skerry/base'
import { callApi, startTestApiServer, type TestApiServer } from '@skerry/testing'
import { createAesCbc, createAesGcm } from './transformers/aes-transformers.ts'
import { createEncryptedStore, type EncryptedStore } from './encrypted-store.ts'
import { readEncryptionConfig } from './encryption-config.ts'
import { createSecretbox } from './transformers/secretbox-transformer.ts'
import { chainTransformers, identityTransformer } from './transformer-chain.ts'

const secretOf = (fill: number): string => Buffer.alloc(32, fill).toString('base64')

function config(resources: readonly string[], ...providers: readonly unknown[]): string {
  return JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources, providers }],
  })
}

const gcm = (name: string, fill: number) => ({
  aesgcm: { keys: [{ name, secret: secretOf(fill) }] },
})
const identity = { identity: {} }

test('each provider reads its own data, and no data that was changed or written with another key', () => {
  const value = Buffer.from('{"kind":"Secret"}')
  const providers = { aesgcm: createAesGcm, aescbc: createAesCbc, secretbox: createSecretbox }
  for (const [name, create] of Object.entries(providers)) {
    const chain = chainTransformers([create({ name: 'one', secret: Buffer.alloc(32, 1) })])
    const sealed = chain.seal(value, '/registry/core/secrets/a/b')
    const prefix = `k8s:enc:${name}:v1:one:`
    assert.equal(Buffer.from(sealed).subarray(0, prefix.length).toString(), prefix)
    assert.ok(!Buffer.from(sealed).includes(value))
    assert.deepEqual(Buffer.from(chain.open(sealed, '/registry/core/secrets/a/b')), value)
    const other = chainTransformers([create({ name: 'two', secret: Buffer.alloc(32, 1) })])
    assert.throws(() => other.open(sealed, '/registry/core/secrets/a/b'), {
      message: 'no matching prefix found',
    })
    assert.throws(() => identityTransformer.open(sealed, ''), {
      message: 'identity transformer tried to read encrypted data',
    })
    if (name === 'aescbc') continue
    const changed = Buffer.from(sealed)
    changed[changed.length - 20] = (changed[changed.length - 20] ?? 0) ^ 1
    assert.throws(() => chain.open(changed, '/registry/core/secrets/a/b'))
  }
  const moved = chainTransformers([createAesGcm({ name: 'one', secret: Buffer.alloc(32, 1) })])
  assert.throws(() => moved.open(moved.seal(value, '/registry/core/secrets/a/b'), '/elsewhere'), {
    message: 'cipher: message authentication failed',
  })
})

test('rules are found by resource, group and wildcard, the first that matches', async () => {
  const rules: readonly [string[], string, boolean][] = [
    [['secrets'], 'core/secrets', true],
    [['secrets'], 'core/configmaps', false],
    [['deployments.apps'], 'apps/deployments', true],
    [['*.apps'], 'apps/daemonsets', true],
    [['*.'], 'core/pods', true],
    [['*.'], 'apps/deployments', false],
    [['*.*'], 'example.com/things', true],
  ]
  for (const [resources, storage, isCovered] of rules) {
    const plan = await readEncryptionConfig(config(resources, gcm('k', 1)), {
      clock: systemClock,
      log: silentLogger,
    })
    assert.equal(plan.chainFor(storage) !== undefined, isCovered, `${resources.join()} ${storage}`)
  }
})

test('a configuration with a mistake is refused with its place', async () => {
  const bad: readonly [string, RegExp][] = [
    ['{', /Cannot use EncryptionConfiguration/],
    ['{"apiVersion":"v1","kind":"Secret"}', /no kind "Secret" is registered for version "v1"/],
    [config([], identity), /resources\[0\]\.resources: at least one/],
    [config(['secrets']), /resources\[0\]\.providers: at least one/],
    [config(['secrets'], { rot13: {} }), /unknown field "resources\[0\]\.providers\[0\]\.rot13"/],
    [config(['secrets'], { ...identity, ...gcm('k', 1) }), /more than one provider/],
    [config(['secrets'], { aesgcm: { keys: [{ name: 'a', secret: 'YWJj' }] } }), /got 3, expected/],
    [config(['*.*', 'secrets'], identity), /"secrets" is masked by earlier rule "\*\.\*"/],
    [config(['secrets'], { kms: { name: 'x' } }), /kms.apiVersion: Unsupported value: "v1"/],
  ]
  for (const [text, message] of bad) {
    await assert.rejects(
      readEncryptionConfig(text, { clock: systemClock, log: silentLogger }),
      (error: Error) => message.test(error.message),
    )
  }
})

const secrets = '/api/v1/namespaces/default/secrets'
const body = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'a' },
  stringData: { password: 'tr0ub4dor' },
}

async function withServer(
  text: string,
  run: (server: TestApiServer, store: EncryptedStore) => Promise<void>,
): Promise<void> {
  const plan = await readEncryptionConfig(text, { clock: systemClock, log: silentLogger })
  const seen: EncryptedStore[] = []
  await using server = await startTestApiServer({
    encrypted(store) {
      const made = createEncryptedStore(store, plan)
      seen.push(made)
      return made
    },
  })
  const [store] = seen
  assert.ok(store)
  await run(server, store)
}

async function storedText(server: TestApiServer, name: string): Promise<string> {
  const { entry } = await server.store.get(`/registry/core/secrets/default/${name}`)
  return Buffer.from(entry?.value ?? []).toString('latin1')
}

test('secrets are encrypted where they are stored, and a replace moves them to the newest key', async () => {
  await withServer(config(['secrets'], identity, gcm('old', 1)), async (server, store) => {
    const call = (request: Parameters<typeof callApi>[1]) => callApi(server.transport, request)
    await call({ method: 'POST', path: secrets, body })
    assert.match(await storedText(server, 'a'), /^\{"apiVersion/)
    store.setPlan(
      await readEncryptionConfig(config(['secrets'], gcm('new', 2), gcm('old', 1), identity), {
        clock: systemClock,
        log: silentLogger,
      }),
    )
    const read = await call({ path: `${secrets}/a` })
    const same = await call({ method: 'PUT', path: `${secrets}/a`, body: read.body })
    assert.equal(same.status, 200)
    assert.match(await storedText(server, 'a'), /^k8s:enc:aesgcm:v1:new:/)
    const again = await call({ method: 'PUT', path: `${secrets}/a`, body: same.body })
    assert.equal(again.body.metadata.resourceVersion, same.body.metadata.resourceVersion)
    const list = await call({ path: secrets })
    assert.equal(list.body.items[0].data.password, Buffer.from('tr0ub4dor').toString('base64'))
  })
})

test('an object that no key opens is an error that names it, ends nothing, and comes back with its key', async () => {
  await withServer(config(['secrets'], gcm('new', 2), identity), async (server, store) => {
    const call = (request: Parameters<typeof callApi>[1]) => callApi(server.transport, request)
    await call({ method: 'POST', path: secrets, body })
    const key = '/registry/core/secrets/default/lost'
    const sealer = chainTransformers([createAesGcm({ name: 'old', secret: Buffer.alloc(32, 1) })])
    const text = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'lost', namespace: 'default' },
    })
    await server.store.write({ key, value: sealer.seal(Buffer.from(text), key) })
    const lost = await call({ path: `${secrets}/lost` })
    assert.equal(lost.status, 500)
    assert.equal(lost.body.message, 'Internal error occurred: no matching prefix found')
    const list = await call({ path: secrets })
    assert.equal(
      list.body.message,
      `Internal error occurred: unable to transform key ${JSON.stringify(key)}: no matching prefix found`,
    )
    assert.equal((await call({ path: `${secrets}/a` })).status, 200)
    assert.equal((await call({ method: 'DELETE', path: `${secrets}/lost` })).status, 500)
    const dry = `${secrets}/lost?dryRun=All&${ignoring}`
    assert.equal((await call({ method: 'DELETE', path: dry })).status, 422)
    store.setPlan(
      await readEncryptionConfig(config(['secrets'], gcm('new', 2), gcm('old', 1)), {
        clock: systemClock,
        log: silentLogger,
      }),
    )
    await server.server.retryUnreadable()
    assert.equal((await call({ path: `${secrets}/lost` })).status, 200)
    assert.equal((await call({ path: secrets })).body.items.length, 2)
  })
})

const ignoring = 'ignoreStoreReadErrorWithClusterBreakingPotential=true'

test('an object that cannot be read is deleted by those who may ignore that, and by nobody else', async () => {
  await using server = await startTestApiServer({ withAccess: true })
  const call = (request: Parameters<typeof callApi>[1]) => callApi(server.transport, request)
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'deleter' } }
  const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'delete'] }]
  await call({
    method: 'POST',
    path: `${rbac}/clusterroles`,
    body: { ...role, kind: 'ClusterRole', rules },
  })
  const binding = {
    ...role,
    kind: 'ClusterRoleBinding',
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'deleter' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
  }
  await call({ method: 'POST', path: `${rbac}/clusterrolebindings`, body: binding })
  const asAnn = server.transportAs({ name: 'ann', groups: ['system:authenticated'], extra: {} })
  const key = '/registry/core/secrets/default/lost'
  await server.store.write({ key, value: Buffer.from('k8s:enc:aesgcm:v1:none:') })
  const unsafe = { method: 'DELETE', path: `${secrets}/lost?${ignoring}` } as const
  const refused = await callApi(asAnn, unsafe)
  assert.equal(refused.status, 403)
  assert.match(refused.body.message, /cannot unsafe-delete-ignore-read-errors resource "secrets"/)
  assert.equal((await call({ path: secrets })).status, 500)
  const gone = await call(unsafe)
  assert.equal(gone.status, 200, gone.text)
  assert.deepEqual(gone.body.details, { name: 'lost', kind: 'secrets' })
  assert.equal((await call({ path: secrets })).status, 200)
  assert.equal((await call({ path: `${secrets}/lost` })).status, 404)
  assert.equal((await call(unsafe)).status, 404)
  await call({ method: 'POST', path: secrets, body })
  const readable = { method: 'DELETE', path: `${secrets}/a?${ignoring}` } as const
  assert.equal((await callApi(asAnn, readable)).status, 200, 'readable: a delete like any other')
})
