/**
 * A service whose stored bytes cannot be read keeps its addresses until it is deleted; then they
 * are free at once.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock, silentLogger } from '@skerry/base'
import { callApi, startTestApiServer } from '@skerry/testing'
import { createEncryptedStore, type EncryptedStore } from '../encryption/encrypted-store.ts'
import { readEncryptionConfig } from '../encryption/encryption-config.ts'

const path = '/api/v1/namespaces/default/services'
const clusterIP = '10.43.0.50'
const spec = { type: 'NodePort', clusterIP, ports: [{ port: 80, nodePort: 30100 }] }
const ignoring = 'ignoreStoreReadErrorWithClusterBreakingPotential=true'
const refusal = /provided IP is already allocated/

/** Services are encrypted with a key. Without it, stored ones cannot be read. */
async function startServer() {
  const planWith = (name: string) => {
    const secret = Buffer.alloc(32, name.length).toString('base64')
    const providers = [{ aesgcm: { keys: [{ name, secret }] } }]
    const config = { kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.k8s.io/v1' }
    return readEncryptionConfig(
      JSON.stringify({ ...config, resources: [{ resources: ['services'], providers }] }),
      { clock: systemClock, log: silentLogger },
    )
  }
  const plan = await planWith('key')
  const stores: { own: EncryptedStore; other: EncryptedStore }[] = []
  const otherPlan = await planWith('other key')
  const server = await startTestApiServer({
    encrypted(store) {
      const own = createEncryptedStore(store, plan)
      stores.push({ own, other: createEncryptedStore(store, otherPlan) })
      return own
    },
  })
  const [made] = stores
  assert.ok(made)
  const call = (request: Parameters<typeof callApi>[1]) => callApi(server.transport, request)
  return {
    call,
    create: (name: string) => call({ method: 'POST', path, body: { metadata: { name }, spec } }),
    remove: (name: string) => call({ method: 'DELETE', path: `${path}/${name}?${ignoring}` }),
    /** Stores a service that was never read, as after a start without the key. */
    async storeUnread(name: string) {
      const object = { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' } }
      const value = Buffer.from(
        JSON.stringify({ ...object, spec: { ...spec, clusterIPs: [clusterIP] } }),
      )
      await made.other.write({ key: `/registry/core/services/default/${name}`, value })
      await call({ path: `${path}/${name}` })
    },
    async bringKey() {
      made.own.setPlan(otherPlan)
      await server.server.retryUnreadable()
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** The object that the controllers write for each service. */
const addressOfLost = {
  metadata: { name: clusterIP, labels: { 'ipaddress.kubernetes.io/ip-family': 'IPv4' } },
  spec: { parentRef: { resource: 'services', namespace: 'default', name: 'lost' } },
}

test('the addresses and ports of an unreadable service are free as soon as it is deleted', async () => {
  await using server = await startServer()
  assert.equal((await server.create('lost')).status, 201)
  await server.storeUnread('lost')
  assert.match((await server.create('early')).text, refusal)
  assert.equal((await server.remove('lost')).status, 200)
  assert.equal((await server.create('late')).status, 201)
})

test('a service that nobody has read since the start keeps its address, by the IPAddress that names it', async () => {
  await using server = await startServer()
  const addresses = '/apis/networking.k8s.io/v1/ipaddresses'
  await server.call({ method: 'POST', path: addresses, body: addressOfLost })
  await server.storeUnread('lost')
  assert.match((await server.create('early')).text, refusal)
  assert.equal((await server.remove('lost')).status, 200)
  assert.equal((await server.create('late')).status, 201)
})

test('a service that becomes readable again has its addresses back, and no watch goes on as if it had never come', async () => {
  await using server = await startServer()
  const { metadata } = (await server.call({ path })).body
  await server.storeUnread('lost')
  await server.bringKey()
  assert.equal((await server.call({ path: `${path}/lost` })).status, 200)
  assert.match((await server.create('second')).text, refusal)
  const resumed = `${path}?watch=true&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}`
  assert.match((await server.call({ path: resumed })).text, /"code":410/)
  // Later events are followed as before.
  assert.equal((await server.remove('lost')).status, 200)
  assert.equal((await server.create('third')).status, 201)
})
