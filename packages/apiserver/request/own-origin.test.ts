import assert from 'node:assert/strict'
import { request } from 'node:https'
import { test } from 'node:test'
import { startTestApiServer, type TestApiServer } from '@skerry/testing'

interface Asked {
  readonly method?: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: object
}

/**
 * Sends a request with the certificate that a browser would send by itself. Returns the status, 101
 * if protocols were switched.
 */
async function ask(server: TestApiServer, { method = 'GET', path, headers, body }: Asked) {
  const { ca, cert, key } = server.credentials
  return new Promise<number>((resolve, reject) => {
    const call = request(`${server.url}${path}`, { method, ca, cert, key, headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    call.on('upgrade', (_answer, socket) => {
      socket.destroy()
      resolve(101)
    })
    call.on('error', reject)
    call.end(body && JSON.stringify(body))
  })
}

const upgrading = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}
const secrets = '/api/v1/namespaces/default/secrets'

test("a page of another origin writes nothing and opens no WebSocket with its reader's certificate", async () => {
  await using server = await startTestApiServer({ withAccess: true })
  const own = new URL(server.url).origin
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { generateName: 'a' } }
  const write = (origin: string) =>
    ask(server, { method: 'POST', path: secrets, headers: { origin }, body })
  const watch = (origin: string) =>
    ask(server, { path: `${secrets}?watch=true`, headers: { ...upgrading, origin } })
  for (const origin of ['null', 'https://evil.example.com', own.replace(/\d+$/, '1'), 'x']) {
    assert.equal(await write(origin), 403, origin)
    assert.equal(await watch(origin), 403, origin)
    // Browsers do not show such pages what they read.
    assert.equal(await ask(server, { path: secrets, headers: { origin } }), 200)
  }
  // The namespace is named pods, and the secret proxy.
  const path = '/api/v1/namespaces/pods/secrets/proxy'
  const headers = { origin: 'null' }
  assert.equal(await ask(server, { method: 'DELETE', path, headers }), 403)
  for (const origin of [own, own.replace('https', 'http')]) {
    assert.equal(await write(origin), 201, origin)
    assert.equal(await watch(origin), 101, origin)
  }
})

test('a page that a pod or a service serves may ask more of it', async () => {
  await using server = await startTestApiServer({ withAccess: true })
  const path = '/api/v1/namespaces/default/services/web/proxy/form'
  const status = await ask(server, { method: 'POST', path, headers: { origin: 'null' }, body: {} })
  assert.equal(status, 404, 'there is no such service')
})

test('a write that a browser sends for a page of another site is refused, even without an Origin', async () => {
  await using server = await startTestApiServer({ withAccess: true })
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { generateName: 'a' } }
  const expected = { 'cross-site': 403, 'same-site': 403, 'same-origin': 201, none: 201 }
  for (const [site, status] of Object.entries(expected)) {
    const headers = { 'sec-fetch-site': site }
    assert.equal(await ask(server, { method: 'POST', path: secrets, headers, body }), status, site)
    // Another site's page cannot read the answer.
    assert.equal(await ask(server, { path: secrets, headers }), 200, site)
  }
})
