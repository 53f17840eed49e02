import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { TLSSocket } from 'node:tls'
import { test } from 'node:test'
import { createAuthority, generateKeyPair, signCertificate, type Authority } from '@skerry/pki'
import { createNeighbourAsker } from './ask-neighbour.ts'
import { peerNode } from './neighbour-identity.ts'

const dayMs = 86_400_000
const { signal } = new AbortController()

interface Pair {
  readonly cert: string
  readonly key: string
}

interface Leaf {
  readonly name: string
  readonly organization?: string
  /** The days from today on which it begins. */
  readonly fromDay?: number
}

async function authority(): Promise<Authority> {
  const subject = { commonName: 'cluster' }
  return createAuthority({ subject, notBeforeMs: 0, notAfterMs: Date.now() + 3_650 * dayMs })
}

async function pairOf(signer: Authority, leaf: Leaf): Promise<Pair> {
  const { name, organization = 'system:nodes', fromDay = -1 } = leaf
  const { privateKeyPem: key, publicKeyPem } = await generateKeyPair()
  const notBeforeMs = Date.now() + fromDay * dayMs
  const cert = await signCertificate(signer, {
    subject: { commonName: name, organizations: [organization] },
    publicKeyPem,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth', 'serverAuth'],
    notBeforeMs,
    notAfterMs: notBeforeMs + 30 * dayMs,
  })
  return { cert, key }
}

interface RunningServer extends AsyncDisposable {
  readonly port: number
  readonly callers: (string | undefined)[]
}

/** Answers as a node does, and remembers which nodes asked. */
async function serve(
  pair: Pair,
  authorityPem: string,
  { status = 200, body }: { status?: number; body: string },
): Promise<RunningServer> {
  const callers: (string | undefined)[] = []
  const server: Server = createServer(
    { ...pair, ca: authorityPem, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      assert.ok(request.socket instanceof TLSSocket)
      callers.push(peerNode(request.socket, authorityPem))
      response.writeHead(status).end(body)
    },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // An address family and port, as the server listens on TCP.
  const { port } = server.address() as AddressInfo
  return {
    port,
    callers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const word = '{"seen":["c"],"missed":["d"],"doubted":["d"]}'
const heard = { word: { seen: ['c'], missed: ['d'] }, doubted: ['d'] }

test('a neighbour is known by the key of its certificate, whatever the clocks say', async () => {
  const cluster = await authority()
  const { certificatePem } = cluster
  for (const fromDay of [-400, -1, 400]) {
    const a = await pairOf(cluster, { name: 'system:node:a', fromDay })
    const b = await pairOf(cluster, { name: 'system:node:b', fromDay: -fromDay })
    await using server = await serve(b, certificatePem, { body: word })
    using asker = createNeighbourAsker({ current: () => a, authorityPem: certificatePem })
    const neighbour = { name: 'b', address: '127.0.0.1', port: server.port }
    assert.deepEqual(await asker.ask(neighbour, signal), heard)
    assert.deepEqual(await asker.ask(neighbour, signal), heard)
    assert.deepEqual(server.callers, ['a', 'a'])
  }
})

const impostors = [
  { leaf: { name: 'system:node:c' }, isForeign: false, expected: /node "c" answers/ },
  { leaf: { name: 'b' }, isForeign: false, expected: /no node of this cluster/ },
  {
    leaf: { name: 'system:node:b', organization: 'developers' },
    isForeign: false,
    expected: /no node of this cluster/,
  },
  { leaf: { name: 'system:node:b' }, isForeign: true, expected: /no node of this cluster/ },
]

test('a neighbour is missed if another machine answers in its place', async () => {
  const cluster = await authority()
  const { certificatePem } = cluster
  const a = await pairOf(cluster, { name: 'system:node:a' })
  for (const { leaf, isForeign, expected } of impostors) {
    const impostor = await pairOf(isForeign ? await authority() : cluster, leaf)
    await using server = await serve(impostor, certificatePem, { body: word })
    using asker = createNeighbourAsker({ current: () => a, authorityPem: certificatePem })
    const neighbour = { name: 'b', address: '127.0.0.1', port: server.port }
    await assert.rejects(asker.ask(neighbour, signal), expected)
  }
})

test('a caller without the certificate of a node of the cluster is nobody', async () => {
  const cluster = await authority()
  const b = await pairOf(cluster, { name: 'system:node:b' })
  await using server = await serve(b, cluster.certificatePem, { body: word })
  const strangers = [
    await pairOf(await authority(), { name: 'system:node:a' }),
    await pairOf(cluster, { name: 'system:node:a', organization: 'developers' }),
    await pairOf(cluster, { name: 'admin' }),
  ]
  for (const stranger of strangers) {
    using asker = createNeighbourAsker({
      current: () => stranger,
      authorityPem: cluster.certificatePem,
    })
    await asker.ask({ name: 'b', address: '127.0.0.1', port: server.port }, signal)
  }
  assert.deepEqual(server.callers, [undefined, undefined, undefined])
})

for (const { name, reply } of [
  { name: 'does not watch others', reply: { status: 404, body: 'not found' } },
  { name: 'has this node in no group', reply: { status: 403, body: 'Forbidden' } },
  { name: 'answers nonsense', reply: { body: '{"seen":7}' } },
  { name: 'answers without end', reply: { body: 'x'.repeat(200_000) } },
]) {
  test(`a neighbour that ${name} lives, and has no word`, async () => {
    const cluster = await authority()
    const a = await pairOf(cluster, { name: 'system:node:a' })
    const b = await pairOf(cluster, { name: 'system:node:b' })
    await using server = await serve(b, cluster.certificatePem, reply)
    using asker = createNeighbourAsker({
      current: () => a,
      authorityPem: cluster.certificatePem,
    })
    const neighbour = { name: 'b', address: '127.0.0.1', port: server.port }
    assert.equal(await asker.ask(neighbour, signal), undefined)
  })
}
