/** Agents dial hubs, and hub replicas dial each other. A peer with odd answers ends only its own tunnel. */
import assert from 'node:assert/strict'
import type { Duplex } from 'node:stream'
import { after, before, test } from 'node:test'
import { Readable } from 'node:stream'
import { silentLogger, systemClock, systemRandom, type Random } from '@skerry/base'
import {
  failOnUncaught,
  oddRawAnswers,
  says,
  saysPieces,
  startRawPeer,
  type RawPeer,
} from '@skerry/testing'
import type { AgentSession, TunnelHandler } from './session/agent-session.ts'
import { tunnelProtocol } from './agent/dial-web-socket.ts'
import { dialTunnel } from './agent/tunnel-agent.ts'
import { TunnelDialError } from './web-socket/tunnel-dial-error.ts'
import { acceptKey } from './web-socket/accept-key.ts'

const seed = 20_261_135
const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
const never = new AbortController().signal
failOnUncaught()

const handler: TunnelHandler = {
  onRequest: async () => ({ status: 200, headers: {}, body: Readable.from([Buffer.from('ok')]) }),
  onUpgrade: async () => ({ status: 400, headers: {}, body: Readable.from([]) }),
}

let hub: RawPeer
before(async () => {
  hub = await startRawPeer(says(''))
})
after(() => hub[Symbol.dispose]())

const dial = (): Promise<AgentSession> => {
  return dialTunnel({ url: `ws://127.0.0.1:${hub.port}/tunnel` }, handler, deps, never)
}

/** Answers the handshake correctly, with more header lines. */
function welcome(connection: Duplex, head: string, more = ''): void {
  const key = /^sec-websocket-key: *([^\r]*)/im.exec(head)?.[1] ?? ''
  connection.write(
    `HTTP/1.1 101 Switching\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: ${acceptKey(key)}\r\nsec-websocket-protocol: ${tunnelProtocol}\r\n${more}\r\n`,
  )
}

async function assertOpens(what: string): Promise<void> {
  let opened: Duplex | undefined
  hub.answer = (connection, head) => {
    opened = connection
    welcome(connection, head)
  }
  const session = await dial()
  opened?.end()
  assert.notEqual(await session.closed, '', what)
}

test(`an odd answer is not a tunnel, and the next one is (seed ${seed})`, async () => {
  for (const [what, parts, random] of oddRawAnswers(seed, 80)) {
    hub.answer = saysPieces(parts, random)
    await assert.rejects(dial(), (error) => {
      assert.ok(error instanceof TunnelDialError, `${what}: ${String(error)}`)
      return true
    })
    await assertOpens(what)
  }
})

test('a handshake with unrequested parts is not a tunnel', async () => {
  const lines = [
    'sec-websocket-extensions: permessage-deflate\r\n',
    'sec-websocket-accept: another\r\n',
    'upgrade: h2c\r\n',
    'sec-websocket-protocol: another\r\n',
    'content-length: 5\r\ntransfer-encoding: chunked\r\n',
    'x: a\x00b\r\n',
    'x: '.padEnd(100_000, 'a') + '\r\n',
  ]
  for (const line of lines) {
    hub.answer = (connection, head) => welcome(connection, head, line)
    await assert.rejects(dial(), TunnelDialError, line.slice(0, 60))
    await assertOpens(line)
  }
})

/** Returns a frame with random opcode, RSV bits, length and mask (RFC 6455, 5.2). */
function frame(random: Random): Buffer {
  const first = random.next() < 0.6 ? 0x82 : Math.floor(random.next() * 256)
  const length = Math.floor(random.next() * 140)
  const payload = Buffer.from(random.bytes(length))
  const draw = random.next()
  if (draw < 0.1)
    return Buffer.concat([Buffer.of(first, 127), Buffer.from(random.bytes(8)), payload])
  if (draw < 0.2)
    return Buffer.concat([Buffer.of(first, 126), Buffer.from(random.bytes(2)), payload])
  if (draw < 0.3) return Buffer.concat([Buffer.of(first, 0x80 | Math.min(125, length)), payload])
  if (length < 126) return Buffer.concat([Buffer.of(first, length), payload])
  return Buffer.concat([Buffer.of(first, 126, 0, length), payload])
}

test(`odd frames of a hub end its tunnel, and the next one is opened (seed ${seed})`, async () => {
  for (const [, , random] of oddRawAnswers(seed, 40)) {
    const frames = Array.from({ length: 1 + Math.floor(random.next() * 8) }, () => frame(random))
    const what = Buffer.concat(frames).toString('hex')
    hub.answer = (connection, head) => {
      welcome(connection, head)
      for (const each of frames) connection.write(each)
      connection.end()
    }
    const session = await dial()
    assert.notEqual(await session.closed, '', what)
    await assertOpens(what)
  }
})
