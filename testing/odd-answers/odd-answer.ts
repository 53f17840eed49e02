import { seededRandom, type Random } from '@skerry/base'
import type { RawAnswer } from './raw-peer.ts'

/** Answers that have ended a server, or could: what they are called, and their bytes. */
const oddAnswers: readonly (readonly [what: string, bytes: string])[] = [
  ...[
    '600',
    '999',
    '099',
    '000',
    '199',
    '100',
    '102',
    '103',
    '101',
    '1000',
    '20',
    '-20',
    '2e2',
  ].map(
    (status) =>
      [`status ${status}`, `HTTP/1.1 ${status} Odd\r\ncontent-length: 2\r\n\r\nab`] as const,
  ),
  ...[
    'upgrade: h2c',
    'te: gzip',
    'te: trailers',
    'proxy-connection: keep-alive',
    'http2-settings: AAMAAABkAAQAAP__',
    'connection: x-secret, close\r\nx-secret: a',
    'keep-alive: timeout=1',
    'trailer: x-late',
    'content-length: 2',
    'content-length: 3',
    'transfer-encoding: chunked',
    'transfer-encoding: gzip',
    ':status: 200',
    'location: /a\r\nlocation: /b',
    'content-type: text/plain\r\ncontent-type: text/html',
    'etag: "a"\r\netag: "b"',
    'x-bytes: \x80\xff',
    '__proto__: a',
    'constructor: a',
    'x: a\r\n b',
    'x : a',
    'x: a\rb',
    'x: a\x00b',
    'x: a\x01b',
  ].map((line) => [`header ${JSON.stringify(line)}`, answer('200 OK', line, 'ab')] as const),
  ...['204 No Content', '205 Reset', '304 Not Modified'].flatMap((status) =>
    ['trailer: x', 'content-length: 5', 'transfer-encoding: chunked', 'x: a'].map(
      (line) => [`${status} with ${line}`, `HTTP/1.1 ${status}\r\n${line}\r\n\r\nbytes`] as const,
    ),
  ),
  ['a body that is shorter than its length', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'],
  ['many headers', `HTTP/1.1 200 OK\r\n${'x: a\r\n'.repeat(1_500)}content-length: 2\r\n\r\nab`],
  ['long headers', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}\r\ncontent-length: 2\r\n\r\nab`],
  [
    'ever more answers before it',
    `${'HTTP/1.1 103 Early\r\n\r\n'.repeat(50)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab`,
  ],
  [
    'a switch nobody asked for',
    'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nab',
  ],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['nothing', ''],
  ['a reason of odd bytes', 'HTTP/1.1 200 \x80\xff\r\ncontent-length: 2\r\n\r\nab'],
  [
    'trailers',
    'HTTP/1.1 200 OK\r\ntrailer: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nx: a\r\nconnection: b\r\n\r\n',
  ],
]

function answer(status: string, line: string, body: string): string {
  const isFramed = /^(content-length|transfer-encoding)/.test(line)
  const length = isFramed ? '' : `content-length: ${body.length}\r\n`
  return `HTTP/1.1 ${status}\r\n${line}\r\n${length}\r\n${body}`
}

/** Yields all known odd answers, then random ones, each in pieces. `random` may be used for more draws. */
export function* oddRawAnswers(
  seed: number,
  rounds: number,
): Generator<readonly [what: string, parts: readonly Buffer[], random: Random]> {
  const random = seededRandom(seed)
  for (const [what, bytes] of oddAnswers) yield [what, [Buffer.from(bytes, 'latin1')], random]
  for (let round = 0; round < rounds; round += 1) {
    const parts = randomAnswer(random)
    yield [JSON.stringify(Buffer.concat(parts).toString('latin1')), parts, random]
  }
}

/** Writes the bytes in one piece and ends. */
export function says(bytes: string): RawAnswer {
  return (connection) => void connection.end(Buffer.from(bytes, 'latin1'))
}

const names = [
  'connection',
  'content-length',
  'transfer-encoding',
  'trailer',
  'upgrade',
  'te',
  'keep-alive',
  'proxy-connection',
  'http2-settings',
  'content-type',
  'content-encoding',
  'location',
  'set-cookie',
  'refresh',
  'date',
  'etag',
  'x-a',
  'sec-websocket-accept',
  ':status',
  ':path',
  'host',
  'grpc-status',
  'retry-after',
  '__proto__',
  '',
  'x a',
  'x\x00',
]
const values = [
  '',
  'a',
  'close',
  'upgrade',
  'keep-alive',
  'chunked',
  'gzip',
  'identity',
  '0',
  '2',
  '5',
  '-1',
  '0x2',
  '2, 2',
  '9e9',
  '99999999999999999999',
  'websocket',
  'SPDY/3.1',
  'h2c',
  'x-a, content-type',
  'text/html',
  '/a',
  '//b',
  'a\tb',
  '\x80',
  'a\x00',
  'a\x7f',
  'a\nb',
  'trailers',
  'x'.repeat(5_000),
]
const bodies = [
  '',
  'ab',
  'abcde',
  '2\r\nab\r\n0\r\n\r\n',
  '5\r\nab',
  '0\r\nx: a\r\n\r\n',
  '\x82\x7e\xff\xff',
  '\x80\x03\x00\x01\x00\x00\x00\x0a',
  '\x00\x00\x06\x04\x00\x00\x00\x00\x00',
  'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged',
]
const statuses = [
  '101',
  '100',
  '103',
  '199',
  '200',
  '201',
  '204',
  '205',
  '206',
  '301',
  '304',
  '401',
  '404',
  '429',
  '500',
  '503',
  '599',
  '600',
  '700',
  '999',
  '000',
  '099',
  '1000',
  'abc',
  '',
]

/** Bytes of an answer that may be anything, in pieces. */
export function randomAnswer(random: Random): readonly Buffer[] {
  const pick = (from: readonly string[]): string =>
    from[Math.floor(random.next() * from.length)] ?? ''
  const lines = Array.from(
    { length: Math.floor(random.next() * 6) },
    () => `${pick(names)}: ${pick(values)}`,
  )
  const isPlain = random.next() < 0.5
  const version =
    isPlain || random.next() < 0.8
      ? 'HTTP/1.1'
      : pick(['HTTP/1.0', 'HTTP/2', 'HTTP/0.9', 'http/1.1'])
  const before = random.next() < 0.1 ? 'HTTP/1.1 103 Early\r\nx: a\r\n\r\n' : ''
  const text = `${before}${version} ${pick(statuses)} ${pick(['OK', '', 'a\tb', '\x80'])}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${pick(bodies)}`
  return pieces(Buffer.from(isPlain ? text : mutated(text, random), 'latin1'), random)
}

function mutated(text: string, random: Random): string {
  const at = Math.floor(random.next() * text.length)
  const odd = String.fromCharCode(Math.floor(random.next() * 256))
  if (random.next() < 0.4) return text.slice(0, at) + odd + text.slice(at + 1)
  if (random.next() < 0.4) return text.slice(0, at)
  return text.slice(0, at) + text.slice(at, at + 8).repeat(3) + text.slice(at)
}

function pieces(bytes: Buffer, random: Random): Buffer[] {
  if (random.next() < 0.6) return [bytes]
  const at = Math.floor(random.next() * bytes.length)
  return [bytes.subarray(0, at), bytes.subarray(at)]
}

/** Writes the pieces one after the other, and then ends, resets or closes. */
export function saysPieces(parts: readonly Buffer[], random: Random): RawAnswer {
  const end = random.next()
  return (connection) => {
    const next = (index: number): void => {
      const part = parts[index]
      if (part !== undefined)
        return void connection.write(part, () => setImmediate(next, index + 1))
      if (end < 0.8) connection.end()
      else connection.destroy()
    }
    next(0)
  }
}
