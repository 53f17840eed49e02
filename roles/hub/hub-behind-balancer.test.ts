import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { get } from 'node:http'
import { connect as connectTcp, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { trustedProxies } from '@skerry/apiserver'
import { pendingRegistrations } from '@skerry/membership'
import { until } from '@skerry/testing'
import { auditedLines } from '../../testing/scenes/audited-lines.ts'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const balancer = '127.0.0.9'
const operator = { commonName: 'olga', organizations: ['system:masters'] }
const line = (address: string): string => `PROXY TCP4 ${address} 192.0.2.1 50000 443\r\n`

/** Opens a connection as a balancer does: the header about the client comes first. */
async function open(fleet: TestHub, header: string, localAddress = balancer): Promise<Socket> {
  const { hostname: host, port } = new URL(fleet.url)
  const socket = connectTcp({ host, port: Number(port), localAddress })
  socket.on('error', () => undefined)
  await once(socket, 'connect', { signal: soon() })
  socket.write(header, 'latin1')
  return socket
}

async function secured(fleet: TestHub, socket: Socket, protocol: string): Promise<TLSSocket> {
  const { certificate: cert, key } = await fleet.credentialsOf(operator)
  const tls = { host: '127.0.0.1', ca: fleet.caPem, cert, key, ALPNProtocols: [protocol] }
  const secure = connectTls({ ...tls, socket })
  await once(secure, 'secureConnect', { signal: soon() })
  return secure
}

async function getBy(secure: TLSSocket, path: string): Promise<void> {
  const request = get({ path, host: '127.0.0.1', createConnection: () => secure })
  const [response] = await once(request, 'response', { signal: soon() })
  await text(response)
}

async function getByHttp2(secure: TLSSocket, url: string, path: string): Promise<void> {
  const session = connectHttp2(url, { createConnection: () => secure })
  await text(session.request({ ':path': path }))
  session.destroy()
}

/** Returns the sources of requests for such a path in the hub's audit log. */
async function sources(fleet: TestHub, path: string): Promise<string[]> {
  const whole = await auditedLines(fleet)
  const lines: { uri: string; source: string }[] = whole.map((each) => JSON.parse(each))
  return lines.filter(({ uri }) => uri.endsWith(path)).map(({ source }) => source)
}

function untilSources(fleet: TestHub, path: string, count: number): Promise<string[]> {
  return until(async () => {
    const found = await sources(fleet, path)
    return found.length >= count && found
  }, soon())
}

test('behind a balancer that says so, the address of the real client is recorded and shown', async () => {
  await using edge = await startTestEdge()
  await using fleet = await startTestHub({
    proxies: trustedProxies([balancer]),
    registration: { requiresAcceptance: true, reEnrolmentGraceMs: 0 },
  })
  const path = '/clusters/nobody/version'
  const one = await secured(fleet, await open(fleet, line('203.0.113.7')), 'http/1.1')
  await getBy(one, path)
  const other = await secured(fleet, await open(fleet, line('203.0.113.8')), 'h2')
  await getByHttp2(other, fleet.url, path)
  const own = '\r\n\r\n\0\r\nQUIT\n\x20\0\0\0'
  await getBy(await secured(fleet, await open(fleet, own), 'http/1.1'), path)
  // A client that bypasses the balancer sends no header.
  await getBy(await secured(fleet, await open(fleet, '', '127.0.0.1'), 'http/1.1'), path)
  const seen = await untilSources(fleet, path, 4)
  assert.deepEqual(seen.toSorted(), ['127.0.0.1', balancer, '203.0.113.7', '203.0.113.8'])
  await using _agent = await startTestAgent(fleet, {
    name: 'edge',
    api: edge.api,
    connect: () => open(fleet, line('203.0.113.9')),
  })
  const signal = soon()
  const [found] = await until(async () => {
    const pending = await pendingRegistrations(fleet.admin, signal)
    return pending.length > 0 && pending
  }, signal)
  assert.deepEqual([found?.cluster, found?.address], ['edge', '203.0.113.9'])
})

test('only a named balancer says where a connection comes from, and it must say so', async () => {
  await using fleet = await startTestHub({ proxies: trustedProxies([balancer]) })
  const closed = async (socket: Socket): Promise<void> => {
    socket.resume()
    await once(socket, 'close', { signal: soon() })
  }
  // A header from another address is not TLS; a balancer's missing or incomplete header is refused.
  await closed(await open(fleet, line('203.0.113.7'), '127.0.0.1'))
  await closed(await open(fleet, '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'))
  await closed(await open(fleet, `PROXY TCP4 203.0.113.7 ${'x'.repeat(200)}`))
  const gone = await open(fleet, 'PROXY TCP4 203')
  gone.destroy()
  // A silent connection blocks no others, and does not stay forever.
  const silent = await open(fleet, '')
  const good = await secured(fleet, await open(fleet, line('203.0.113.7')), 'http/1.1')
  await getBy(good, '/clusters/nobody/version')
  assert.deepEqual(await untilSources(fleet, '/clusters/nobody/version', 1), ['203.0.113.7'])
  await closed(silent)
})
