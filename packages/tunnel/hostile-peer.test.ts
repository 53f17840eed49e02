import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { silentLogger, simulatedClock } from '@skerry/base'
import { WebSocket } from 'ws'
import { serveTunnel, type TunnelHandler } from './session/agent-session.ts'
import { tunnelProtocol } from './agent/dial-web-socket.ts'
import { memoryLinks } from './testing/memory-link.ts'
import { createTunnelScene, type TunnelScene } from './testing/tunnel-scene.ts'
import { Multiplexer } from './session/multiplexer.ts'
import { dialTunnel } from './agent/tunnel-agent.ts'
import { validateTunnelLimits } from './frame/validate-tunnel-limits.ts'

const silentEvents = { onGoAway: () => undefined, onFault: () => undefined }
const never = new AbortController().signal
const get = { method: 'GET', path: '/', headers: {} }

const answering: TunnelHandler = {
  onRequest: async () => ({ status: 200, headers: {}, body: Readable.from([Buffer.from('ok')]) }),
  onUpgrade: async () => ({ status: 400, headers: {}, body: Readable.from([]) }),
}

async function openRaw(scene: TunnelScene, identity: string): Promise<WebSocket> {
  const { url, tls } = await scene.endpoint(identity)
  const webSocket = new WebSocket(url, tunnelProtocol, { ...tls, perMessageDeflate: false })
  await once(webSocket, 'open')
  return webSocket
}

const attacks: readonly { what: string; data: string | Buffer; words: RegExp }[] = [
  { what: 'text', data: 'GET / HTTP/1.1', words: /text is not understood|1003/ },
  { what: 'a message above the limit', data: Buffer.alloc(2_000_000), words: /max payload size/i },
  { what: 'bytes that are not frames', data: Buffer.alloc(1_000, 0xff), words: /protocol failed/ },
]
for (const { what, data, words } of attacks) {
  test(`an agent that sends ${what} is cut off alone`, async () => {
    await using scene = await createTunnelScene()
    const { hub: honest } = await scene.connect(answering, 'honest')
    const webSocket = await openRaw(scene, 'hostile')
    const [session] = scene.registry.sessions('hostile')
    webSocket.send(data)
    webSocket.on('error', () => undefined)
    assert.match((await session?.closed) ?? '', words)
    const { status } = await honest.send(get, never)
    assert.equal(status, 200)
    webSocket.terminate()
  })
}

const floods: readonly { what: string; path?: string; headers?: string[]; status: string }[] = [
  { what: 'too many headers', headers: Array.from({ length: 520 }, () => 'x'), status: '431' },
  { what: 'a path that is too long', path: `/${'a'.repeat(20_000)}`, status: '414' },
  { what: 'a name without a value', headers: ['x'], status: '400' },
]
for (const { what, path = '/', headers = [], status } of floods) {
  test(`a hub that sends ${what} gets ${status} from the agent`, async () => {
    const { near, far } = memoryLinks()
    const deps = { clock: simulatedClock(), log: silentLogger }
    const agent = serveTunnel(near, answering, validateTunnelLimits(), deps)
    const answered = Promise.withResolvers<string[]>()
    const hub = new Multiplexer(far, validateTunnelLimits(), silentEvents, deps)
    hub.open(['GET', path, '', '', ...headers], true).onHead = answered.resolve
    assert.equal((await answered.promise)[0], status)
    agent.close('done')
    await agent.closed
  })
}

test('a peer that offers to compress is not taken at its word', async () => {
  await using scene = await createTunnelScene()
  const { url, tls } = await scene.endpoint('hostile')
  const webSocket = new WebSocket(url, tunnelProtocol, { ...tls, perMessageDeflate: true })
  await once(webSocket, 'open')
  assert.equal(webSocket.extensions, '')
  webSocket.terminate()
})

test('a handshake for another protocol is refused', async () => {
  await using scene = await createTunnelScene()
  const { url, tls } = await scene.endpoint()
  const webSocket = new WebSocket(url, 'chat', { ...tls })
  const [error] = await once(webSocket, 'error')
  assert.match(String(error), /400/)
})

test('an agent of another version learns which one the hub speaks', async () => {
  await using scene = await createTunnelScene()
  const { url, tls } = await scene.endpoint()
  const webSocket = new WebSocket(url, 'tunnel.v1.skerry', { ...tls })
  webSocket.on('error', () => undefined)
  const [, answer] = await once(webSocket, 'unexpected-response')
  const words = `this speaks ${tunnelProtocol}: give hub and agent the same version`
  assert.deepEqual([answer.statusCode, answer.statusMessage], [400, words])
  webSocket.terminate()
})

test('a missing hub is named with the step that failed', async () => {
  const deps = { clock: simulatedClock(), log: silentLogger }
  const dialing = dialTunnel({ url: 'wss://127.0.0.1:1/tunnel' }, answering, deps, never)
  await assert.rejects(dialing, /Cannot connect to 127.0.0.1 port 1: .*ECONNREFUSED/)
})

test('a hub that accepts and stays silent is given up after dialMs', async () => {
  const clock = simulatedClock()
  const sockets: Socket[] = []
  const silent = createTcpServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const address = silent.address()
  assert.ok(address !== null && typeof address !== 'string')
  const url = `wss://127.0.0.1:${address.port}/tunnel`
  const accepted = once(silent, 'connection')
  const dialing = dialTunnel({ url }, answering, { clock, log: silentLogger }, never)
  const ends = assert.rejects(dialing, /no answer in 20000 ms/)
  await accepted
  await clock.advance(20_000)
  await ends
  for (const socket of sockets) socket.destroy()
  silent.close()
})
