import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsOfRecord } from './header-fields.ts'
import { http1Head } from './http1-head.ts'
import {
  checkPeerHead,
  checkPeerSwitch,
  checkPeerTrailers,
  PeerAnswerError,
} from './peer-answer.ts'

const fieldsMax = 512
const fieldBytesMax = 131_072

type Lines = readonly (readonly [name: string, value: string])[]

const asked = { peer: 'the pod' }

const refused: readonly (readonly [what: string, status: number | undefined, lines: Lines])[] = [
  ...[undefined, 0, 99, 100, 101, 103, 199, 600, 999, 1000, 200.5, Number.NaN].map(
    (status) => [`status ${status}`, status, []] as const,
  ),
  ['a pseudo-header', 200, [[':status', '200']]],
  ['a name with a space', 200, [['x y', 'a']]],
  ['no name', 200, [['', 'a']]],
  ['a line break', 200, [['x', 'a\r\nb: c']]],
  ['a NUL', 200, [['x', 'a\0']]],
  ['more than a byte', 200, [['x', '☃']]],
  [
    'two lengths',
    200,
    [
      ['content-length', '1'],
      ['Content-Length', '2'],
    ],
  ],
  ['an invalid length', 200, [['content-length', '0x1']]],
  [
    'a length and pieces',
    200,
    [
      ['content-length', '1'],
      ['transfer-encoding', 'chunked'],
    ],
  ],
  ['too many headers', 200, Array.from({ length: fieldsMax + 1 }, () => ['x', ''])],
  ['too long headers', 200, [['x', 'a'.repeat(fieldBytesMax)]]],
]
for (const [what, status, fields] of refused) {
  test(`a head with ${what} is refused, and its peer is named`, () => {
    assert.throws(
      () => checkPeerHead({ status, fields }, asked),
      (error) => {
        assert.ok(error instanceof PeerAnswerError)
        return error.message.startsWith('Cannot use the answer of the pod: ')
      },
    )
  })
}

test('headers about the connection to the peer stay there', () => {
  const fields: Lines = [
    ['Connection', 'close, X-Hop, content-length'],
    ['x-hop', 'a'],
    ['Keep-Alive', 'timeout=5'],
    ['proxy-connection', 'keep-alive'],
    ['te', 'trailers'],
    ['upgrade', 'h2c'],
    ['http2-settings', 'AA'],
    ['trailer', 'x'],
    ['content-length', '2'],
    ['content-length', '2'],
    ['location', '/a'],
    ['location', '/b'],
    ['content-encoding', 'br'],
    ['content-encoding', 'gzip'],
    ['set-cookie', 'a=b'],
    ['set-cookie', 'c=d'],
    ['__proto__', 'e'],
  ]
  const { headers, hasBody } = checkPeerHead({ status: 200, fields }, asked)
  assert.equal(hasBody, true)
  assert.deepEqual(Object.entries(headers), [
    ['content-length', '2'],
    ['location', '/a'],
    ['content-encoding', 'br, gzip'],
    ['set-cookie', ['a=b', 'c=d']],
    ['__proto__', 'e'],
  ])
})

test('length, trailers and body agree with status and method', () => {
  const rows: readonly (readonly [
    status: number,
    method: string,
    hasBody: boolean,
    kept: string[],
  ])[] = [
    [200, 'GET', true, ['content-length']],
    [200, 'HEAD', false, ['content-length']],
    [204, 'GET', false, []],
    [205, 'GET', false, []],
    [304, 'GET', false, ['content-length']],
  ]
  for (const [status, method, hasBody, kept] of rows) {
    const fields: Lines = [
      ['content-length', '5'],
      ['trailer', 'x'],
    ]
    const head = checkPeerHead({ status, fields }, { ...asked, method, passesTrailers: true })
    assert.deepEqual([head.hasBody, Object.keys(head.headers)], [hasBody, kept], `${status}`)
  }
  const announced = { status: 200, fields: [['trailer', 'x']] as const }
  const passing = checkPeerHead(announced, { ...asked, passesTrailers: true })
  assert.deepEqual(Object.keys(passing.headers), ['trailer'])
  const trailers = checkPeerTrailers(
    [
      ['x', 'a'],
      ['content-length', '1'],
      ['te', 'b'],
    ],
    'the pod',
  )
  assert.deepEqual(Object.entries(trailers), [['x', 'a']])
})

test('a peer switches to the protocol that it was offered, and to no other', () => {
  const offered = { peer: 'the pod', offered: 'websocket, SPDY/3.1' }
  const headers = checkPeerSwitch(
    [
      ['Upgrade', 'spdy/3.1'],
      ['content-length', '0'],
    ],
    offered,
  )
  assert.deepEqual({ ...headers }, { connection: 'Upgrade', upgrade: 'spdy/3.1' })
  for (const fields of [
    [],
    [['upgrade', 'h2c']],
    [
      ['upgrade', 'websocket'],
      ['upgrade', 'x'],
    ],
  ]) {
    // Pairs, as in the table.
    const lines = fields as unknown as Lines
    assert.throws(() => checkPeerSwitch(lines, offered), PeerAnswerError)
  }
})

test('a head is written in bytes, and never split', () => {
  const head = http1Head(502, { x: '\x80', 'set-cookie': ['a', 'b'] })
  const wanted = 'HTTP/1.1 502 Bad Gateway\r\nx: \x80\r\nset-cookie: a\r\nset-cookie: b\r\n\r\n'
  assert.equal(head.toString('latin1'), wanted)
  assert.throws(() => http1Head(200, { x: 'a\r\nb: c' }), RangeError)
  assert.throws(() => http1Head(600, {}), RangeError)
  assert.deepEqual(
    [...fieldsOfRecord({ a: ['b', 'c'], d: undefined })],
    [
      ['a', 'b'],
      ['a', 'c'],
    ],
  )
})
