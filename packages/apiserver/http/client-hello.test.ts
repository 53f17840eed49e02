import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConnectionOptions } from 'node:tls'
import { seededRandom } from '@skerry/base'
import { helloOf } from '../testing/client-hello.ts'
import { parseClientHello } from './client-hello.ts'

const offers: readonly (readonly [string, ConnectionOptions, readonly string[]])[] = [
  ['nothing', {}, []],
  [
    'a browser',
    { ALPNProtocols: ['h2', 'http/1.1'], servername: 'hub.example' },
    ['h2', 'http/1.1'],
  ],
  ['an agent', { ALPNProtocols: ['skerry-patient', 'http/1.1'] }, ['skerry-patient', 'http/1.1']],
  ['TLS 1.2', { ALPNProtocols: ['http/1.1'], maxVersion: 'TLSv1.2' }, ['http/1.1']],
]

test("a client's offer is read from its hello, wherever that is cut", async () => {
  for (const [name, options, protocols] of offers) {
    const hello = await helloOf(options)
    for (let length = 0; length < hello.length; length += 1) {
      assert.deepEqual(parseClientHello(hello.subarray(0, length)), { isWhole: false }, name)
    }
    assert.deepEqual(parseClientHello(hello), { isWhole: true, protocols }, name)
    const more = Buffer.concat([hello, Buffer.from('more')])
    assert.deepEqual(parseClientHello(more), { isWhole: true, protocols }, name)
  }
})

const seed = 5
test(`data that is not a hello offers nothing, and never makes the reader fail (seed ${seed})`, async () => {
  const nothing = { isWhole: true, protocols: [] }
  for (const text of [
    'GET / HTTP/1.1\r\n',
    '\x15\x03\x01\x00\x02\x02\x28',
    '\x16\x03\x01\xff\xff',
  ]) {
    assert.deepEqual(parseClientHello(Buffer.from(text, 'latin1')), nothing)
  }
  const hello = await helloOf({ ALPNProtocols: ['skerry-patient'] })
  const random = seededRandom(seed)
  const below = (limit: number): number => Math.floor(random.next() * limit)
  for (let round = 0; round < 5_000; round += 1) {
    const broken = Buffer.from(hello)
    for (let change = below(4); change >= 0; change -= 1) broken[below(hello.length)] = below(256)
    const read = parseClientHello(broken)
    assert.ok(!read.isWhole || read.protocols.every((name) => name.length < 256))
  }
})
