import assert from 'node:assert/strict'
import { once } from 'node:events'
import { duplexPair, type Duplex } from 'node:stream'
import { test } from 'node:test'
import { seededRandom } from '@skerry/base'
import { framedStream } from './framed-stream.ts'

async function textOf(stream: Duplex): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}

test('either end may close its half first', async () => {
  const [near, far] = duplexPair()
  const [one, other] = [framedStream(near), framedStream(far)]
  one.write('mind')
  one.end()
  const heard: string[] = []
  other.on('data', (chunk: Buffer) => heard.push(chunk.toString()))
  await once(other, 'end')
  other.end(`${heard.join('')} yourself`)
  assert.equal(await textOf(one), 'mind yourself')
})

test('a stream that breaks off does not look whole', async () => {
  const [near, far] = duplexPair()
  const [one, other] = [framedStream(near), framedStream(far)]
  one.on('error', () => undefined)
  one.write('half')
  // The connection ends without the final frame, like one that was cut.
  setImmediate(() => near.end())
  await assert.rejects(textOf(other), /the connection broke off/)
  const [client, server] = duplexPair()
  const bytes = framedStream(client)
  bytes.on('error', () => undefined)
  server.write(Buffer.from([0, 0, 0, 0, 0, 0, 0, 1, 65]))
  bytes.resume()
  await assert.rejects(once(bytes, 'close'), /the connection broke off/)
})

test('bytes arrive in order however they are cut on the way', async () => {
  const seed = 7
  const random = seededRandom(seed)
  const [near, far] = duplexPair()
  const [between, behind] = duplexPair()
  const sender = framedStream(near)
  const receiver = framedStream(behind)
  far.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length;) {
      const next = at + 1 + Math.floor(random.next() * 5)
      between.write(chunk.subarray(at, next))
      at = next
    }
  })
  const pieces = Array.from({ length: 200 }, (_, index) => 'x'.repeat(index % 17) + index)
  for (const piece of pieces) sender.write(piece)
  sender.end()
  assert.equal(await textOf(receiver), pieces.join(''), `seed ${seed}`)
})
