import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { ClientRequest } from 'node:http'
import http2 from 'node:http2'
import { request } from 'node:https'
import type { Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { startTestApiServer, type TestApiServer, until } from '@skerry/testing'

const configMaps = { group: '', resource: 'configmaps' }
const path = '/api/v1/namespaces/default/configmaps'
const chunkBytes = 64 * 1024
const watcherEventsMax = 20
const streamCount = 50
/** Less than two hundred readers would hold without a limit, and more than the streams hold. */
const unreadBytesPerUserMax = 12_000_000

let server: TestApiServer

before(async () => {
  server = await startTestApiServer({
    limits: { chunkBytes, watcherEventsMax, unreadBytesPerUserMax },
  })
  for (let count = 0; count < 20; count += 1) await addBig(`big-${count}`)
})
after(async () => {
  await server[Symbol.asyncDispose]()
})

async function addBig(name: string): Promise<void> {
  const data = { a: 'a'.repeat(200_000) }
  const metadata = { name, namespace: 'default' }
  await server.objects.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
}

async function isResponsive(): Promise<boolean> {
  const answer = await server.transport.send(
    { method: 'GET', path: '/api/v1/namespaces/default', headers: {} },
    AbortSignal.timeout(5_000),
  )
  for await (const _ of answer.body) continue
  return answer.status === 200
}

/** The server's ends of the streams that open while the work is done. */
async function streamsOpenedBy(work: () => Promise<void>): Promise<http2.ServerHttp2Stream[]> {
  const streams: http2.ServerHttp2Stream[] = []
  const onStart = (message: unknown): void => {
    // The channel of this name carries such messages.
    streams.push((message as { stream: http2.ServerHttp2Stream }).stream)
  }
  subscribe('http2.server.stream.start', onStart)
  try {
    await work()
  } finally {
    unsubscribe('http2.server.stream.start', onStart)
  }
  return streams
}

test('streams that stall in a long list hold a piece of it each, not the list', async () => {
  const client = http2.connect(server.url, {
    ...server.credentials,
    settings: { initialWindowSize: 0 },
  })
  client.on('error', () => undefined)
  const streams = await streamsOpenedBy(async () => {
    const requests = Array.from({ length: streamCount }, () => client.request({ ':path': path }))
    for (const request of requests) request.on('error', () => undefined)
    await Promise.all(requests.map((request) => once(request, 'response')))
    assert.ok(await isResponsive())
  })
  assert.equal(streams.length, streamCount)
  for (const { writableLength } of streams) {
    // One object may be longer than a piece.
    assert.ok(writableLength > 0 && writableLength <= chunkBytes + 250_000, String(writableLength))
  }
  client.destroy()
})

test('a watch that is never read is closed as slow; others have every event', async () => {
  const client = http2.connect(server.url, {
    ...server.credentials,
    settings: { initialWindowSize: 0 },
  })
  client.on('error', () => undefined)
  const [stream] = await streamsOpenedBy(async () => {
    const watch = client.request({ ':path': `${path}?watch=1` })
    watch.on('error', () => undefined)
    await once(watch, 'response')
  })
  assert.ok(stream)
  const read = await server.transport.send(
    { method: 'GET', path: `${path}?watch=1&timeoutSeconds=60`, headers: {} },
    AbortSignal.timeout(20_000),
  )
  const reader = read.body[Symbol.asyncIterator]()
  let text = ''
  for (let count = 0; count < 3 * watcherEventsMax; count += 1) {
    const name = `later-${count}-`
    await addBig(name + 'z')
    while (!text.includes(`"name":"${name}z"`)) {
      text += Buffer.from((await reader.next()).value ?? []).toString()
    }
    text = ''
  }
  await reader.return?.()
  assert.ok(stream.writableLength < 3 * watcherEventsMax * 200_000, String(stream.writableLength))
  assert.ok(stream.writableEnded || stream.destroyed)
  assert.ok(await isResponsive())
  client.destroy()
})

/** Opens one answer on its own connection; its body is not read. */
async function leaveUnread(target: string): Promise<ClientRequest> {
  const sent = request(`${server.url}${target}`, { ...server.credentials, agent: false })
  sent.on('error', () => undefined)
  sent.end()
  const [response] = await once(sent, 'response')
  response.pause()
  return sent
}

test('two hundred unread watch-lists hold only as much as one user may, and others are served', async () => {
  const query =
    'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'
  const table = 'watch=1&resourceVersion=0'
  const unread: ClientRequest[] = []
  let bytesMax = 0
  for (let count = 0; count < 200; count += 1) {
    unread.push(await leaveUnread(`${path}?${count % 2 === 0 ? query : table}`))
    bytesMax = Math.max(bytesMax, server.server.unreadBytes())
  }
  assert.ok(await isResponsive())
  bytesMax = Math.max(bytesMax, server.server.unreadBytes())
  assert.ok(bytesMax > 0 && bytesMax <= unreadBytesPerUserMax, `${bytesMax} bytes`)
  for (const sent of unread) sent.destroy()
  await until(() => server.server.unreadBytes() === 0)
})

/** Opens a WebSocket on its own connection, which is accepted and never read. */
async function leaveSocketUnread(target: string): Promise<Socket> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const sent = request(`${server.url}${target}`, { ...server.credentials, agent: false, headers })
  sent.on('error', () => undefined)
  sent.end()
  const [, socket] = await once(sent, 'upgrade')
  socket.pause()
  socket.on('error', () => undefined)
  return socket
}

test('two hundred unread watches over WebSockets hold only as much as one user may, and others are served', async () => {
  const query =
    'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'
  const unread: Socket[] = []
  let bytesMax = 0
  for (let count = 0; count < 200; count += 1) {
    unread.push(await leaveSocketUnread(`${path}?${query}`))
    bytesMax = Math.max(bytesMax, server.server.unreadBytes())
  }
  await until(() => server.server.unreadBytes() > 0)
  assert.ok(await isResponsive())
  bytesMax = Math.max(bytesMax, server.server.unreadBytes())
  assert.ok(bytesMax > 0 && bytesMax <= unreadBytesPerUserMax, `${bytesMax} bytes`)
  for (const socket of unread) socket.destroy()
  await until(() => server.server.unreadBytes() === 0)
})
