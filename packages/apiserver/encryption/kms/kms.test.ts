import assert from 'node:assert/strict'
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js'
import { systemClock, silentLogger, simulatedClock } from '@skerry/base'
import { callApi, startTestApiServer, until } from '@skerry/testing'
import { createEncryptedStore, type EncryptedStore } from '../encrypted-store.ts'
import { readEncryptionConfig } from '../encryption-config.ts'
import { readMessage, textOf, writeMessage } from './kms-messages.ts'

/** Starts a plugin with one key per id, which is unreachable while `isWell` is false. */
async function startPlugin() {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-kms-'))
  const state = { keyId: 'one', health: 'ok', isAway: false, calls: [] as string[] }
  const secretOf = (keyId: string): Buffer => Buffer.alloc(32, keyId)
  const methods: Record<string, (request: Buffer) => Buffer> = {
    Status: () => writeMessage({ 1: 'v2', 2: state.health, 3: state.keyId }),
    Encrypt(request) {
      const { bytes } = readMessage(request)
      const cipher = createCipheriv('aes-256-ctr', secretOf(state.keyId), Buffer.alloc(16))
      const sealed = cipher.update(bytes.get(1) ?? Buffer.alloc(0))
      const annotations = new Map([['key.example.org', Buffer.from(state.keyId)]])
      return writeMessage({ 1: sealed, 2: state.keyId, 3: annotations })
    },
    Decrypt(request) {
      const { bytes, annotations } = readMessage(request, 4)
      const keyId = textOf(bytes.get(3))
      assert.equal(textOf(annotations.get('key.example.org')), keyId)
      const cipher = createDecipheriv('aes-256-ctr', secretOf(keyId), Buffer.alloc(16))
      return writeMessage({ 1: cipher.update(bytes.get(1) ?? Buffer.alloc(0)) })
    },
  }
  const same = (bytes: Buffer): Buffer => bytes
  const definition = (name: string) => ({
    path: `/v2.KeyManagementService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  })
  const names = Object.keys(methods)
  const server = new Server()
  const implementation: UntypedServiceImplementation = Object.fromEntries(
    names.map((name) => [
      name,
      (
        call: { request: Buffer },
        callback: (error: Error | null, answer?: Buffer) => void,
      ): void => {
        state.calls.push(name)
        if (state.isAway) callback(new Error('key vault is away'))
        else callback(null, methods[name]?.(call.request))
      },
    ]),
  )
  server.addService(
    Object.fromEntries(names.map((name) => [name, definition(name)])),
    implementation,
  )
  const endpoint = `unix://${join(directory, 'kms.sock')}`
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(endpoint, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    )
  })
  return {
    state,
    endpoint,
    async [Symbol.asyncDispose]() {
      server.forceShutdown()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const configOf = (kms: object): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [{ kms }, { identity: {} }] }],
  })
const secrets = '/api/v1/namespaces/default/secrets'
const secretNamed = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  data: { token: 'c2VjcmV0LXZhbHVl' },
})

test('secrets are encrypted with seeds that only the plugin opens; a new key id is used for new writes', async () => {
  await using plugin = await startPlugin()
  const clock = simulatedClock()
  const text = configOf({ apiVersion: 'v2', name: 'vault', endpoint: plugin.endpoint })
  using plan = await readEncryptionConfig(text, { clock, log: silentLogger })
  assert.equal(await plan.look(), true)
  assert.deepEqual(plan.problems(), [])
  let encrypted: EncryptedStore | undefined
  await using server = await startTestApiServer({
    encrypted: (store) => (encrypted = createEncryptedStore(store, plan)),
  })
  const create = (name: string) =>
    callApi(server.transport, { method: 'POST', path: secrets, body: secretNamed(name) })
  assert.equal((await create('a')).status, 201)
  assert.equal((await create('b')).status, 201)
  assert.deepEqual(plugin.state.calls, ['Status', 'Encrypt'], 'one seed for every write')
  const key = '/registry/core/secrets/default/a'
  const { entry } = await server.store.get(key)
  const stored = Buffer.from(entry?.value ?? [])
  assert.ok(stored.toString('latin1').startsWith('k8s:enc:kms:v2:vault:'))
  assert.ok(!stored.includes('c2VjcmV0'))
  assert.equal(await encrypted?.isStale(key), false)

  plugin.state.keyId = 'two'
  await plan.look()
  assert.equal(await encrypted?.isStale(key), true)

  // Another process has no seeds, so it asks the plugin once for each.
  using fresh = await readEncryptionConfig(text, { clock, log: silentLogger })
  await fresh.look()
  plugin.state.calls.length = 0
  const second = createEncryptedStore(server.store, fresh)
  const { entries } = await second.list({ prefix: '/registry/core/secrets/' })
  for (const { value } of entries) {
    assert.ok(Buffer.from(value).includes('c2VjcmV0LXZhbHVl'))
  }
  await second.get(key)
  assert.deepEqual(plugin.state.calls, ['Decrypt'])
})

test('while the plugin is away, known seeds still read; writes go on for three minutes; a problem is reported', async () => {
  await using plugin = await startPlugin()
  const clock = simulatedClock()
  const text = configOf({ apiVersion: 'v2', name: 'vault', endpoint: plugin.endpoint })
  using plan = await readEncryptionConfig(text, { clock, log: silentLogger })
  const chain = plan.chainFor('core/secrets')
  assert.ok(chain)
  assert.throws(() => chain.seal(Buffer.from('x'), 'k'), /Cannot encrypt with KMS vault/)
  plugin.state.isAway = true
  assert.equal(await plan.look(), false)
  assert.match(plan.problems().join(), /vault: .*key vault is away/)
  plugin.state.isAway = false
  assert.equal(await plan.look(), true)
  const sealed = chain.seal(Buffer.from('x'), 'k')
  using other = await readEncryptionConfig(text, { clock, log: silentLogger })
  plugin.state.health = 'the vault is sealed'
  assert.equal(await plan.look(), false)
  assert.deepEqual(plan.problems(), ['vault: got unexpected healthz status: the vault is sealed'])
  assert.deepEqual(Buffer.from(chain.open(sealed, 'k')).toString(), 'x')
  await clock.advance(180_001)
  assert.throws(() => chain.seal(Buffer.from('x'), 'k'), /its key has expired/)
  plugin.state.isAway = true
  const without = other.chainFor('core/secrets')
  await without?.fetch(sealed)
  assert.throws(() => without?.open(sealed, 'k'), /failed to decrypt DEK, error: .*vault is away/)
})

test('a plugin that comes back is reported, until another plan takes its place', async () => {
  await using plugin = await startPlugin()
  const clock = simulatedClock()
  const text = configOf({ apiVersion: 'v2', name: 'vault', endpoint: plugin.endpoint })
  const plan = await readEncryptionConfig(text, { clock, log: silentLogger })
  plugin.state.isAway = true
  assert.equal(await plan.look(), false)
  let reports = 0
  const onRecovered = async (): Promise<void> => void (reports += 1)
  const following = plan.follow(onRecovered, new AbortController().signal)
  plugin.state.isAway = false
  await clock.advance(10_000)
  await until(() => reports === 1)
  assert.deepEqual(plan.problems(), [])
  plan[Symbol.dispose]()
  await following
  await clock.advance(600_000)
  assert.equal(reports, 1)
})

test('mistakes in the configuration of a plugin are refused with their place', async () => {
  const good = { apiVersion: 'v2', name: 'vault', endpoint: 'unix:///run/kms.sock' }
  const bad: readonly [object, RegExp][] = [
    [{ ...good, apiVersion: 'v1' }, /kms\.apiVersion: Unsupported value: "v1"/],
    [{ ...good, name: 'a:b' }, /kms\.name: should not contain ':'/],
    [{ ...good, endpoint: 'https://vault' }, /kms\.endpoint: endpoint must be unix/],
    [{ ...good, timeout: '0s' }, /kms\.timeout: timeout should be a positive value/],
    [{ ...good, cachesize: 5 }, /kms\.cachesize: cachesize is not supported in v2/],
  ]
  for (const [kms, message] of bad) {
    await assert.rejects(
      readEncryptionConfig(configOf(kms), { clock: systemClock, log: silentLogger }),
      message,
    )
  }
})

test('messages keep bytes, texts, numbers and annotations', () => {
  const annotations = new Map([
    ['a.example.org', Buffer.from('1')],
    ['b.example.org', Buffer.alloc(0)],
  ])
  const read = readMessage(
    writeMessage({ 1: Buffer.from([1, 2]), 2: 'id', 4: annotations, 5: 1 }),
    4,
  )
  assert.deepEqual(Buffer.from(read.bytes.get(1) ?? []), Buffer.from([1, 2]))
  assert.equal(textOf(read.bytes.get(2)), 'id')
  assert.equal(read.numbers.get(5), 1)
  assert.deepEqual([...read.annotations.keys()], [...annotations.keys()])
  assert.equal(readMessage(writeMessage({ 4: new Map() }), 4).annotations.size, 0)
})
