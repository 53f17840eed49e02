import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { decode, encode, type Packet } from 'dns-packet'
import { silentLogger } from '@skerry/base'
import type { EndpointSlice, Service } from '@skerry/api'
import { startDnsServer, type DnsServer } from './dns-server.ts'
import type { Forwarder } from './forwarder.ts'
import { buildZone } from './zone.ts'

const service: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'big', namespace: 'x' },
  spec: { clusterIP: 'None' },
}
const slice: EndpointSlice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'big-1', namespace: 'x', labels: { 'kubernetes.io/service-name': 'big' } },
  addressType: 'IPv4',
  endpoints: Array.from({ length: 100 }, (_, index) => ({ addresses: [`10.42.0.${index}`] })),
}
const zone = buildZone([service], [slice], { domain: 'cluster.local', ttlSeconds: 5 })

function start(forwarder: Forwarder, hasZone = true): Promise<DnsServer> {
  return startDnsServer(
    { address: '127.0.0.1', port: 0, domain: 'cluster.local', ttlSeconds: 5 },
    { zone: () => (hasZone ? zone : undefined), forwarder, log: silentLogger },
  )
}

const deaf: Forwarder = { forward: () => Promise.reject(new Error('nobody answers')) }

function query(name: string, type: 'A' = 'A'): Buffer {
  return encode({ type: 'query', id: 7, flags: 256, questions: [{ name, type }] })
}

function askUdp(port: number, bytes: Buffer): Promise<Packet> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.on('message', (answer) => {
      socket.close()
      resolve(decode(answer))
    })
    socket.send(bytes, port, '127.0.0.1')
  })
}

async function askTcp(port: number, bytes: Buffer): Promise<Packet> {
  const socket = connect({ port, host: '127.0.0.1' })
  const prefix = Buffer.alloc(2)
  prefix.writeUInt16BE(bytes.length)
  // The message is sent in two pieces, as a slow network would deliver it.
  socket.write(prefix)
  socket.write(bytes)
  let received = Buffer.alloc(0)
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk as Buffer])
    if (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) break
  }
  socket.destroy()
  return decode(received.subarray(2))
}

test('an answer too long for a datagram is truncated, and whole over TCP', async () => {
  await using server = await start(deaf)
  const short = await askUdp(server.port, query('big.x.svc.cluster.local'))
  assert.equal((short.flags ?? 0) & 512, 512)
  assert.equal(short.answers?.length, 0)
  const whole = await askTcp(server.port, query('big.x.svc.cluster.local'))
  assert.equal(whole.answers?.length, 100)
})

test('an answer too long for TCP has as many addresses as fit, and ends nothing', async () => {
  const endpoints = Array.from({ length: 3_000 }, (_, index) => ({
    addresses: [`10.42.${index >> 8}.${index & 255}`],
  }))
  const huge = buildZone([service], [{ ...slice, endpoints }], {
    domain: 'cluster.local',
    ttlSeconds: 5,
  })
  await using server = await startDnsServer(
    { address: '127.0.0.1', port: 0, domain: 'cluster.local', ttlSeconds: 5 },
    { zone: () => huge, forwarder: deaf, log: silentLogger },
  )
  const cut = await askTcp(server.port, query('big.x.svc.cluster.local'))
  assert.equal((cut.flags ?? 0) & 512, 512)
  const count = cut.answers?.length ?? 0
  assert.ok(count > 1_000 && count < 3_000, `${count} answers`)
})

test('a query that is still open when the server closes ends nothing', async () => {
  const asked = Promise.withResolvers<void>()
  const late = Promise.withResolvers<Buffer>()
  const slow: Forwarder = {
    forward: () => {
      asked.resolve()
      return late.promise
    },
  }
  const server = await start(slow)
  const socket = createSocket('udp4')
  socket.send(query('example.org'), server.port, '127.0.0.1')
  await asked.promise
  await server[Symbol.asyncDispose]()
  late.resolve(query('example.org'))
  // An unhandled rejection is reported by then.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  socket.close()
})

test('a missing name is NXDOMAIN with the SOA that bounds how long it is remembered', async () => {
  await using server = await start(deaf)
  const answer = await askUdp(server.port, query('nobody.x.svc.cluster.local'))
  assert.equal((answer.flags ?? 0) & 15, 3)
  assert.equal(answer.authorities?.[0]?.type, 'SOA')
})

test('outside names go to the resolver; when none answers the client gets SERVFAIL', async () => {
  const given = encode({
    type: 'response',
    id: 7,
    questions: [{ name: 'example.org', type: 'A' }],
    answers: [{ name: 'example.org', type: 'A', ttl: 60, data: '192.0.2.9' }],
  })
  await using server = await start({ forward: () => Promise.resolve(Buffer.from(given)) })
  const answer = await askUdp(server.port, query('example.org'))
  assert.deepEqual(
    answer.answers?.map((record) => ('data' in record ? record.data : '')),
    ['192.0.2.9'],
  )
  await using alone = await start(deaf)
  assert.equal(((await askUdp(alone.port, query('example.org'))).flags ?? 0) & 15, 2)
})

test('before services are known, own names are SERVFAIL and never asked elsewhere', async () => {
  const elsewhere: (string | undefined)[] = []
  const forwarder: Forwarder = {
    forward(bytes) {
      const asked = decode(bytes)
      elsewhere.push(asked.questions?.[0]?.name)
      return Promise.resolve(encode({ ...asked, type: 'response' }))
    },
  }
  await using server = await start(forwarder, false)
  const names = ['big.x.svc.cluster.local', 'Big.X.SVC.Cluster.Local', 'cluster.local']
  for (const name of [...names, 'mycluster.local']) {
    const { flags = 0 } = await askUdp(server.port, query(name))
    assert.equal(flags & 15, names.includes(name) ? 2 : 0, name)
  }
  assert.deepEqual(elsewhere, ['mycluster.local'])
})

test('noise gets no answer and harms nothing', async () => {
  await using server = await start(deaf)
  const socket = createSocket('udp4')
  for (const noise of [Buffer.alloc(0), Buffer.alloc(5), Buffer.alloc(3_000, 255)]) {
    socket.send(noise, server.port, '127.0.0.1')
  }
  const answer = await askUdp(server.port, query('nobody.x.svc.cluster.local'))
  assert.equal(answer.id, 7)
  socket.close()
})

test('a port that another program uses is refused in one line, and nothing stays open', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const address = taken.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const config = { address: '127.0.0.1', port, domain: 'cluster.local', ttlSeconds: 5 }
  const deps = { zone: () => zone, forwarder: deaf, log: silentLogger }
  await assert.rejects(startDnsServer(config, deps), /another program does/)
  await new Promise<void>((resolve) => taken.close(() => resolve()))
  await using server = await startDnsServer(config, deps)
  assert.equal(server.port, port)
})
