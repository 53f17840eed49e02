import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { overChannels } from '../testing/channel-client.ts'
import { SpdyParser, SpdyWriter } from './spdy-frames.ts'

const streams = { stdin: true, stdout: true, stderr: false, tty: false }
const ids = { error: 1, stdin: 3, stdout: 5 }

/** Starts a streaming server that echoes its input, and then ends the command. */
async function echoRuntime(onSocket: (socket: Socket) => Promise<void>) {
  const server = createServer((socket) => void onSocket(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    url: `http://127.0.0.1:${port}/exec/token`,
    [Symbol.dispose]: () => void server.close(),
  }
}

async function echo(socket: Socket): Promise<void> {
  const writer = new SpdyWriter()
  const parser = new SpdyParser()
  let isUpgraded = false
  socket.on('data', (chunk: Buffer) => {
    let bytes = chunk
    if (!isUpgraded) {
      isUpgraded = true
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
      bytes = chunk.subarray(chunk.indexOf('\r\n\r\n') + 4)
    }
    for (const frame of parser.push(bytes)) {
      if (frame.type !== 'data' || frame.stream !== ids.stdin) continue
      socket.write(writer.data(ids.stdout, frame.payload, { isLast: frame.isLast }))
      if (!frame.isLast) continue
      socket.write(writer.data(ids.error, Buffer.from('{"status":"Success"}'), { isLast: true }))
    }
  })
}

test('input, its end, output and the verdict travel each on their own channel', async () => {
  using runtime = await echoRuntime(echo)
  const text = 'line\n'.repeat(50_000)
  const said = await overChannels({ url: runtime.url, streams }, text)
  assert.deepEqual(said, { 1: text, 3: '{"status":"Success"}' })
})

test('a client is closed when the runtime is gone', async () => {
  using runtime = await echoRuntime(async (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    socket.on('data', () => socket.end())
  })
  assert.deepEqual(await overChannels({ url: runtime.url, streams }, ''), {})
})

test('frames arrive whole however the bytes are cut', () => {
  const writer = new SpdyWriter()
  const bytes = Buffer.concat([
    writer.data(5, Buffer.from('abc'), { isLast: false }),
    writer.pong(9),
    writer.data(5, Buffer.alloc(0), { isLast: true }),
  ])
  for (let size = 1; size <= bytes.length; size += 1) {
    const parser = new SpdyParser()
    const seen: string[] = []
    for (let at = 0; at < bytes.length; at += size) {
      for (const frame of parser.push(bytes.subarray(at, at + size))) {
        seen.push(frame.type === 'data' ? `${frame.payload.toString()}${frame.isLast}` : frame.type)
      }
    }
    assert.deepEqual(seen, ['abcfalse', 'ping', 'true'])
  }
  const huge = Buffer.of(0, 0, 0, 1, 0, 0xff, 0xff, 0xff)
  assert.throws(() => new SpdyParser().push(huge), /frame of 16777215 bytes/)
})
