import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ExpectedError } from '@skerry/base'
import { formatKubeconfig, resources } from '@skerry/client'
import type { Subject } from '@skerry/pki'
import { startTestProxy } from '@skerry/testing'
import { untilAudited, type AuditedLine } from '../../../testing/scenes/audited-lines.ts'
import {
  shopper,
  startServiceScene,
  type ServiceScene,
} from '../../../testing/scenes/service-scene.ts'
import { runForward } from './forward.ts'

let scene: ServiceScene
/** The events at the service: it `heard` something, or was `cut` off. */
const events = new EventEmitter()

before(async () => {
  const allowed = ['shop/echo:80', 'shop/bulk:80', 'shop/gone:80']
  scene = await startServiceScene(allowed, { accessCheckMs: 50 })
  await scene.allow('sven', ['create'])
  await scene.allow('reader', ['get'])
  // Echoes what it heard once its client has ended its half.
  const echo = createServer({ allowHalfOpen: true }, (socket) => {
    const chunks: Buffer[] = []
    socket.on('error', () => events.emit('cut'))
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      events.emit('heard')
    })
    socket.on('end', () => socket.end(`${Buffer.concat(chunks).toString()} yourself`))
  })
  await scene.serve('echo', echo)
})

after(() => scene[Symbol.asyncDispose]())

/** Writes a kubeconfig whose context leads to the hub, or to a cluster behind it. */
async function kubeconfigOf(user: Subject, path = '', proxy?: string): Promise<string> {
  const { certificate, key } = await scene.fleet.credentialsOf(user)
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const file = join(scene.fleet.directory, `${user.commonName}.kubeconfig`)
  const config = formatKubeconfig({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'hub',
        cluster: {
          server: `${scene.fleet.url}${path}`,
          'certificate-authority-data': base64(scene.fleet.caPem),
          ...(proxy === undefined ? {} : { 'proxy-url': proxy }),
        },
      },
    ],
    users: [
      {
        name: 'me',
        user: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) },
      },
    ],
    contexts: [{ name: 'hub', context: { cluster: 'hub', user: 'me' } }],
    'current-context': 'hub',
  })
  await writeFile(file, config, { mode: 0o600 })
  return file
}

interface Running extends AsyncDisposable {
  readonly ports: readonly number[]
  readonly printed: readonly string[]
  readonly complaints: string[]
  /** Resolves once there is another complaint. */
  complained(): Promise<void>
}

interface ForwardCall {
  readonly user?: Subject
  readonly path?: string
  readonly output?: string
  readonly proxy?: string
  readonly cluster?: string
}

async function startForward(
  services: readonly string[],
  { user = shopper, path = '', output, proxy, cluster = 'edge' }: ForwardCall = {},
): Promise<Running> {
  const stop = new AbortController()
  const kubeconfig = await kubeconfigOf(user, path, proxy)
  const printed: string[] = []
  const complaints: string[] = []
  let waiting = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<void>()
  const running = runForward(
    {
      cluster,
      services,
      kubeconfig,
      context: undefined,
      address: '127.0.0.1',
      output,
      environment: {},
    },
    {
      print(line) {
        printed.push(line)
        if (printed.length === services.length) ready.resolve()
      },
      complain(line) {
        complaints.push(line)
        waiting.resolve()
        waiting = Promise.withResolvers<void>()
      },
    },
    stop.signal,
  )
  await Promise.race([ready.promise, running])
  return {
    printed,
    complaints,
    complained: () => waiting.promise,
    ports: printed.map((line) => Number(/(?:127\.0\.0\.1:|"port":)(\d+)/.exec(line)?.[1])),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await running
    },
  }
}

async function textOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}

async function say(port: number, text: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.end(text)
  return textOf(socket)
}

test('a local port leads to a service; either end may close its half first; each connection is recorded', async () => {
  await using running = await startForward(['0:shop/echo:80'])
  assert.match(running.printed[0] ?? '', /^Forwarding 127\.0\.0\.1:\d+ to shop\/echo:80 of edge$/)
  const [port = 0] = running.ports
  assert.equal(await say(port, 'mind'), 'mind yourself')
  const texts = Array.from({ length: 40 }, (_, index) => `number ${index}`)
  const answers = await Promise.all(texts.map((text) => say(port, text)))
  assert.deepEqual(
    answers,
    texts.map((text) => `${text} yourself`),
  )
  const lines = await scene.audited('/clusters/edge/services/shop/echo:80', 41)
  const first = lines.find(({ bytesIn }) => bytesIn === 4)
  assert.deepEqual(
    [first?.user, first?.method, first?.status, first?.bytesOut],
    ['sven', 'POST', 101, 13],
  )
})

test('bytes wait for a slow reader, and arrive whole', async () => {
  const bytes = 20 * 1024 * 1024
  let taken = 0
  const bulk = createServer((socket) => {
    socket.on('error', () => undefined)
    const piece = Buffer.alloc(65_536, 'skerry ')
    const write = (): void => {
      while (taken < bytes) {
        taken += piece.length
        if (!socket.write(piece)) return void socket.once('drain', write)
      }
      socket.end()
    }
    write()
  })
  await scene.serve('bulk', bulk)
  // A cluster's context leads to the hub, too.
  await using running = await startForward([':shop/bulk:80', '0:shop/echo:80'], {
    path: '/clusters/edge',
    output: 'json',
  })
  const [bulkPort = 0, echoPort = 0] = running.ports
  assert.deepEqual(JSON.parse(running.printed[1] ?? ''), {
    cluster: 'edge',
    service: 'shop/echo:80',
    address: '127.0.0.1',
    port: echoPort,
  })
  const socket = connect({ port: bulkPort, host: '127.0.0.1' })
  await once(socket, 'readable')
  assert.equal(await say(echoPort, 'mind'), 'mind yourself')
  assert.ok(taken < bytes, 'the service was drained though nobody read')
  let read = 0
  for await (const chunk of socket) read += Buffer.from(chunk).length
  assert.equal(read, bytes)
})

test('after a tunnel breaks, the next connection uses the new one', async () => {
  await using running = await startForward(['0:shop/echo:80'])
  const [port = 0] = running.ports
  const open = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const heard = once(events, 'heard')
  open.write('half')
  await heard
  const back = scene.agent.connected()
  const broken = assert.rejects(textOf(open), { code: 'ECONNRESET' })
  const cut = once(events, 'cut')
  scene.fleet.hub.connections.own.closeIdentity('edge', 'a digger found the cable')
  // Neither end takes the partial bytes for the whole.
  await broken
  await cut
  await back
  assert.equal(await say(port, 'again'), 'again yourself')
})

test('a connection is cut soon after its right is taken away, and the audit line says so', async () => {
  await scene.allow('temp', ['create'])
  await using running = await startForward(['0:shop/echo:80'], { user: { commonName: 'temp' } })
  const heard = once(events, 'heard')
  const socket = connect({ port: running.ports[0] ?? 0, host: '127.0.0.1' })
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('error', () => undefined)
  socket.write('still here')
  await heard
  const bindings = scene.fleet.admin.resource(resources.clusterRoleBindings)
  await bindings.delete({ name: 'temp-clusters-services' }, AbortSignal.timeout(20_000))
  await closed
  const path = '/clusters/edge/services/shop/echo:80'
  const isCut = (line: AuditedLine): boolean => line.uri === path && line.user === 'temp'
  const asked = { count: 1, isWanted: isCut }
  const [line] = await untilAudited(scene.fleet, asked, AbortSignal.timeout(20_000))
  assert.equal(line?.cut, 'Cannot go on: the right to it has ended')
})

test('the hub is reached through the proxy of the kubeconfig, with its login', async () => {
  await using proxy = await startTestProxy({ login: 'clerk:p@ss' })
  const named = proxy.url.replace('//', '//clerk:p%40ss@')
  await using running = await startForward(['0:shop/echo:80'], { proxy: named })
  assert.equal(await say(running.ports[0] ?? 0, 'mind'), 'mind yourself')
  const { host } = new URL(scene.fleet.url)
  assert.deepEqual([...new Set(proxy.asked)], [host])
})

test('a refusal is reported, and the connection is reset', async () => {
  await using running = await startForward(['0:shop/gone:80', '0:shop/secret:80'])
  const complaints = [
    'Cannot forward a connection to shop/gone:80 of edge: Cannot reach service shop/gone:80 of cluster "edge": services "gone" not found',
    'Cannot forward a connection to shop/secret:80 of edge: Cannot reach service shop/secret:80 of cluster "edge": its agent does not allow it; start the agent with --allow-service shop/secret:80',
  ]
  for (const [at, port] of running.ports.entries()) {
    const said = running.complained()
    await assert.rejects(say(port, 'mind'), { code: 'ECONNRESET' })
    await said
    assert.equal(running.complaints[at], complaints[at])
  }
})

test('errors that a person can correct are reported before anything listens', async () => {
  const user = { commonName: 'reader' }
  const table: [services: string[], more: object, text: RegExp][] = [
    [['0:shop/echo:80'], { user }, /does not let you to the services of cluster "edge"/],
    [['shop/echo'], {}, /"shop\/echo" is not \[local port:\]namespace\/name:port/],
    [['70000:shop/echo:80'], {}, /is not \[local port:\]/],
    [['0:shop/echo:80'], { path: '/k8s' }, /is not a hub; pass --context/],
    [
      ['0:shop/echo:80'],
      { user: { commonName: 'olga', organizations: ['system:masters'] }, cluster: 'none' },
      /^Cannot find cluster "none": the hub has none of that name; see "skerry cluster list"$/,
    ],
  ]
  for (const [services, more, text] of table) {
    await assert.rejects(startForward(services, more), (error: Error) => {
      assert.ok(error instanceof ExpectedError)
      assert.match(error.message, text)
      return true
    })
  }
  await using running = await startForward(['0:shop/echo:80'])
  const taken = `${running.ports[0]}:shop/echo:80`
  await assert.rejects(
    startForward([taken]),
    /Cannot listen on 127\.0\.0\.1 port \d+: it is in use; name another/,
  )
})
