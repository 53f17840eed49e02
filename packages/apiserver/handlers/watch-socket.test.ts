import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { startTestApiServer } from '@skerry/testing'

const path = '/api/v1/namespaces?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Ddefault'

test('a watch over WebSocket sends one event per message and closes when its time is over', async () => {
  await using server = await startTestApiServer()
  const { ca, cert, key } = server.credentials
  const binary = 'base64.binary.k8s.io'
  // A token among the protocols is not repeated in the answer.
  const token = 'base64url.bearer.authorization.k8s.io.c2VjcmV0'
  for (const protocols of [[], [binary], [token, binary]]) {
    const url = `${server.url.replace('https', 'wss')}${path}`
    const client = new WebSocket(url, protocols, { ca, cert, key })
    const types: string[] = []
    client.on('message', (message: Buffer, isBinary: boolean) => {
      assert.equal(isBinary, false)
      const event: { type: string; object: { metadata: { name: string } } } = JSON.parse(
        message.toString(),
      )
      types.push(`${event.type} ${event.object.metadata.name}`)
    })
    const [code] = await once(client, 'close')
    assert.equal(client.protocol, protocols.at(-1) ?? '')
    assert.deepEqual(types, ['ADDED default'])
    assert.equal(code, 1000)
  }
})

test('an event of any length is one message', async () => {
  await using server = await startTestApiServer()
  const { ca, cert, key } = server.credentials
  const configMaps = { group: '', resource: 'configmaps' }
  for (const [at, length] of [10, 70_000, 131_072, 900_000].entries()) {
    const metadata = { name: `m${at}`, namespace: 'default' }
    const data = { a: 'é'.repeat(length / 2) }
    await server.objects.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
  }
  const watch = '/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1'
  const client = new WebSocket(`${server.url.replace('https', 'wss')}${watch}`, { ca, cert, key })
  const lengths: Record<string, number> = {}
  client.on('message', (message: Buffer) => {
    const { object } = JSON.parse(message.toString())
    if (object.data?.a) lengths[object.metadata.name] = Buffer.byteLength(object.data.a)
  })
  const [code] = await once(client, 'close')
  assert.deepEqual(lengths, { m0: 10, m1: 70_000, m2: 131_072, m3: 900_000 })
  assert.equal(code, 1000)
})

test('a watch that is refused is refused before the upgrade', async () => {
  await using server = await startTestApiServer()
  const { ca, cert, key } = server.credentials
  const url = `${server.url.replace('https', 'wss')}/api/v1/namespaces?watch=1&resourceVersion=x`
  const client = new WebSocket(url, { ca, cert, key })
  const [error] = await once(client, 'error')
  assert.match(String(error), /Unexpected server response: 500/)
})
