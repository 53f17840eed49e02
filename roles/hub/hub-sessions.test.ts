import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { unpackClients } from '@skerry/testing'
import {
  registerCluster,
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const operator = { commonName: 'olga', organizations: ['system:masters'] }

/** The handshakes of kubectl 1.20 and 1.35 for a session, and an API server's answers. */
const handshakes = [
  {
    name: 'exec of kubectl 1.20 over SPDY',
    line: 'POST /clusters/edge/api/v1/namespaces/a/pods/b/exec?command=sh&stdin=true&tty=true',
    sent: [
      ['X-Stream-Protocol-Version', 'v4.channel.k8s.io'],
      ['X-Stream-Protocol-Version', 'v3.channel.k8s.io'],
      ['X-Stream-Protocol-Version', 'v2.channel.k8s.io'],
      ['X-Stream-Protocol-Version', 'channel.k8s.io'],
      ['Connection', 'Upgrade'],
      ['Upgrade', 'SPDY/3.1'],
    ],
    kept: /^x-stream-protocol-version/i,
    answered: ['X-Stream-Protocol-Version', 'v4.channel.k8s.io'],
  },
  {
    name: 'port-forward of kubectl 1.20 over SPDY',
    line: 'POST /clusters/edge/api/v1/namespaces/a/pods/b/portforward',
    sent: [
      ['X-Stream-Protocol-Version', 'portforward.k8s.io'],
      ['Connection', 'Upgrade'],
      ['Upgrade', 'SPDY/3.1'],
    ],
    kept: /^x-stream-protocol-version/i,
    answered: ['X-Stream-Protocol-Version', 'portforward.k8s.io'],
  },
  {
    name: 'attach of kubectl 1.35 over WebSocket',
    line: 'GET /clusters/edge/api/v1/namespaces/a/pods/b/attach?stdin=true&tty=true',
    sent: [
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Version', '13'],
      ['Sec-WebSocket-Key', 'c2tlcnJ5IHNrZXJyeSBza2U='],
      ['Sec-WebSocket-Protocol', 'v5.channel.k8s.io'],
    ],
    kept: /^sec-websocket/i,
    answered: ['Sec-WebSocket-Protocol', 'v5.channel.k8s.io'],
  },
  {
    name: 'port-forward of kubectl 1.35 over WebSocket',
    line: 'GET /clusters/edge/api/v1/namespaces/a/pods/b/portforward',
    sent: [
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Version', '13'],
      ['Sec-WebSocket-Key', 'c2tlcnJ5IHNrZXJyeSBza2U='],
      ['Sec-WebSocket-Protocol', 'SPDY/3.1+portforward.k8s.io'],
    ],
    kept: /^sec-websocket/i,
    answered: ['Sec-WebSocket-Protocol', 'SPDY/3.1+portforward.k8s.io'],
  },
] as const

type Handshake = (typeof handshakes)[number]

/** Starts a server that accepts each session as an API server would, and echoes its input. */
async function startSessions(answers: { handshake: Handshake | undefined }) {
  const seen: IncomingMessage[] = []
  const server = createServer((_request, response) => void response.end('{}'))
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    seen.push(request)
    const [name = '', value = ''] = answers.handshake?.answered ?? []
    const lines = [
      'Connection: Upgrade',
      `Upgrade: ${request.headers.upgrade}`,
      `${name}: ${value}`,
    ]
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
    socket.on('error', () => undefined)
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Sends a raw handshake, then these bytes; resolves with everything that came back up to their echo. */
async function open(fleet: TestHub, { line, sent }: Handshake, bytes: Buffer): Promise<Buffer> {
  const { certificate: cert, key } = await fleet.credentialsOf(operator)
  const port = Number(new URL(fleet.url).port)
  const socket = connect({ host: '127.0.0.1', port, ca: fleet.caPem, cert, key })
  socket.on('error', () => undefined)
  const fields = [['Host', 'hub'], ['User-Agent', 'kubectl/v1.20.15'], ...sent]
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`${line} HTTP/1.1\r\n${head}\r\n`)
  socket.write(bytes)
  const pieces: Buffer[] = []
  for await (const piece of socket.iterator({ destroyOnReturn: true })) {
    pieces.push(Buffer.from(piece))
    const all = Buffer.concat(pieces)
    const end = all.indexOf('\r\n\r\n')
    if (end >= 0 && all.length >= end + 4 + bytes.length) return all
  }
  return Buffer.concat(pieces)
}

test('sessions of old and new clients are opened as they ask, and every byte passes', async () => {
  const answers: { handshake: Handshake | undefined } = { handshake: undefined }
  await using api = await startSessions(answers)
  await using fleet = await startTestHub()
  await registerCluster(fleet, 'edge')
  await using agent = await startTestAgent(fleet, { name: 'edge', api: { server: api.url } })
  await agent.connected()
  // Frames of either protocol are bytes of any value.
  const bytes = Buffer.from(Array.from({ length: 512 }, (_none, at) => at % 256))
  for (const handshake of handshakes) {
    answers.handshake = handshake
    const answer = await open(fleet, handshake, bytes)
    const end = answer.indexOf('\r\n\r\n') + 4
    const head = answer.subarray(0, end).toString()
    assert.match(head, /^HTTP\/1\.1 101 /, handshake.name)
    const [name, value] = handshake.answered
    assert.ok(head.toLowerCase().includes(`${name}: ${value}`.toLowerCase()), head)
    assert.ok(answer.subarray(end).equals(bytes), handshake.name)
    const { rawHeaders = [], url, method } = api.seen.at(-1) ?? {}
    const pairs = rawHeaders.flatMap((each, at) =>
      at % 2 === 0 ? [[each, rawHeaders[at + 1]]] : [],
    )
    const kept = (list: readonly (readonly (string | undefined)[])[]) =>
      list
        .filter(([each = '']) => handshake.kept.test(each))
        .map(([each = '', text]) => `${each.toLowerCase()}: ${text}`)
    assert.deepEqual(kept(pairs), kept(handshake.sent), handshake.name)
    assert.equal(`${method} /clusters/edge${url}`, handshake.line)
  }
})

const run = promisify(execFile)

test('kubectl’s verbs work unchanged on a cluster behind its hub', async () => {
  await using edge = await startTestEdge()
  await using fleet = await startTestHub()
  await using _agent = await startTestAgent(fleet, { name: 'edge', api: edge.api })
  await untilCluster(fleet, 'edge', ({ Connected }) => Connected === 'True')
  const { certificate, key } = await fleet.credentialsOf(operator)
  const file = (name: string): string => join(fleet.directory, name)
  await writeFile(file('ca.crt'), fleet.caPem)
  await writeFile(file('user.crt'), certificate)
  await writeFile(file('user.key'), key, { mode: 0o600 })
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '1' } }
  await writeFile(file('map.json'), JSON.stringify(map))
  const { kubectl } = await unpackClients()
  const server = ['--server', `${fleet.url}/clusters/edge`]
  const authority = ['--certificate-authority', file('ca.crt')]
  const user = ['--client-certificate', file('user.crt'), '--client-key', file('user.key')]
  const how = [...server, ...authority, ...user]
  const env = { HOME: fleet.directory }
  const steps: readonly (readonly [string[], RegExp])[] = [
    [['apply', '--server-side', '-f', file('map.json')], /configmap\/a serverside-applied/],
    [['apply', '--server-side', '-f', file('map.json'), '--dry-run=server'], /server dry run/],
    [['label', 'cm', 'a', 'l=1'], /configmap\/a labeled/],
    [['patch', 'cm', 'a', '-p', '{"data":{"y":"2"}}'], /configmap\/a patched/],
    [['wait', 'cm/a', '--for=jsonpath={.data.y}=2', '--timeout=20s'], /configmap\/a condition met/],
    [['get', 'cm', 'a', '-o', 'jsonpath={.data.x}{.data.y}'], /^12$/],
    [['api-resources', '--api-group=apps'], /deployments/],
    [['explain', 'deployment.spec.replicas'], /FIELD: replicas <integer>/],
    [['auth', 'whoami'], /Username +olga/],
    [['get', '--raw', '/version'], /gitVersion/],
    [['delete', 'cm', 'a', '--wait'], /configmap "a" deleted/],
  ]
  for (const [args, wanted] of steps) {
    const { stdout } = await run(kubectl, [...how, ...args], { env, signal: soon() })
    assert.match(stdout, wanted, args.join(' '))
  }
})
