import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { Duplex } from 'node:stream'
import { silentLogger } from '../log.ts'
import { lastCatch, lastCatchOf } from './last-catch.ts'

/** Throws like a bug in a handler, at once or later. */
function fail({ url }: IncomingMessage): Promise<void> {
  if (url === '/at-once') throw new Error('a mistake')
  return nextTurn().then(() => {
    throw new Error('a mistake')
  })
}

test('a handler that throws, at once or later, ends its request or its connection, and not the process', async () => {
  const uncaught: unknown[] = []
  const onError = (error: unknown): void => void uncaught.push(error)
  process.on('uncaughtException', onError).on('unhandledRejection', onError)
  const server = createServer(
    lastCatch((request, response) => {
      if (request.url === '/fine') return void response.end('fine')
      // This is half an answer; the client could not interpret anything after it.
      if (request.url === '/half') response.writeHead(200, { 'content-length': 9 }).write('half')
      return fail(request)
    }, silentLogger),
  )
  const connectionOf = (_request: IncomingMessage, socket: Duplex) => socket
  server.on(
    'upgrade',
    lastCatchOf(connectionOf, (request, _socket) => fail(request), silentLogger),
  )
  try {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    // A listening TCP server has an address of this type.
    const { port } = server.address() as AddressInfo
    const ask = async (path: string, fields = ''): Promise<string> => {
      const socket = connect(port, '127.0.0.1')
      socket.end(`GET ${path} HTTP/1.1\r\nhost: a\r\n${fields}\r\n`)
      return text(socket)
    }
    for (const path of ['/at-once', '/later']) {
      assert.match(await ask(path), /^HTTP\/1\.1 500 [^]*connection: close[^]*internal error\n/)
      assert.equal(await ask(path, 'connection: Upgrade\r\nupgrade: any\r\n'), '')
    }
    assert.match(await ask('/half'), /^HTTP\/1\.1 200 [^]*half$/)
    assert.match(await ask('/fine', 'connection: close\r\n'), /fine$/)
    await nextTurn()
    assert.deepEqual(uncaught, [])
  } finally {
    process.off('uncaughtException', onError).off('unhandledRejection', onError)
    server.close()
  }
})
