import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Random } from '@skerry/base'
import { randomAnswer } from './odd-answer.ts'
import { randomValues, withOddValue } from './odd-document.ts'

/** One way to get a JSON answer wrong. */
export interface OddJsonAnswer {
  readonly what: string
  /** True: every caller must report an error. */
  readonly isNone: boolean
  /** True: only the caller's timeout ends it. */
  readonly isStalling?: boolean
  /** Writes the answer; `right` is the JSON text of the right one. Resolves after the last byte is written. */
  readonly give: (connection: Duplex, right: string) => void | Promise<void>
}

export interface OddJsonOptions {
  /** Number of documents with one odd value. */
  readonly mutations: number
  /** Number of random answers. */
  readonly rounds: number
  /** Statuses that report a failure. Default: some that clients do not retry. */
  readonly failures?: readonly string[]
  /** `documents` if the client was tried with another question before, `frames` if it ignores bodies. Default: both. */
  readonly parts?: 'documents' | 'frames'
}

/** Yields the known odd answers, then random ones. */
export function* oddJsonAnswers(random: Random, options: OddJsonOptions): Generator<OddJsonAnswer> {
  const { mutations, rounds, failures = ['400', '404', '307'] } = options
  if (options.parts !== 'documents') {
    yield* oddStatuses(failures)
    yield* oddHeads
    yield* oddFrames
    yield* oddCuts
    yield* ceaseless
    yield* silences
  }
  if (options.parts !== 'frames') yield* oddBodies
  for (const value of randomValues(random, mutations)) {
    const what = `value ${value.at.toFixed(3)} is ${value.text.slice(0, 60)}`
    const give = (connection: Duplex, right: string): void =>
      void connection.write(whole(withOddValue(right, value)))
    yield { what, isNone: false, give }
  }
  for (let round = 0; round < rounds; round += 1) {
    const bytes = Buffer.concat(randomAnswer(random))
    const what = JSON.stringify(bytes.toString('latin1').slice(0, 2_000))
    yield { what, isNone: false, give: (connection) => void connection.end(bytes) }
  }
}

/** Writes the right answer and keeps the connection open. */
export function giveRight(connection: Duplex, right: string): void {
  connection.write(whole(right))
}

function whole(body: string | Buffer, lines = ''): Buffer {
  const bytes = Buffer.from(body)
  const length = `content-length: ${bytes.length}\r\n`
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${lines}${length}\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes])
}

function* oddStatuses(failures: readonly string[]): Generator<OddJsonAnswer> {
  const none = ['', '000', '099', '100', '101', '103', '199', '2e2', '-20', '600', '999', '1000']
  for (const status of [...none, ...failures]) {
    yield {
      what: `status ${status}`,
      isNone: true,
      // End the connection: the caller would otherwise wait for the final answer.
      give: (connection, right) =>
        void connection.end(
          `HTTP/1.1 ${status} Odd\r\nlocation: /odd\r\ncontent-length: ${right.length}\r\n\r\n${right}`,
        ),
    }
  }
}

/** Right answers with one more header. Headers that two readers could read differently make the answer invalid. */
const oddHeads: readonly OddJsonAnswer[] = [
  ...[
    'upgrade: h2c',
    'te: gzip',
    'trailer: x-late',
    'proxy-connection: keep-alive',
    'http2-settings: AAMAAABkAAQAAP__',
    'connection: x-secret\r\nx-secret: a',
    'connection: content-length, content-type',
    'keep-alive: timeout=0',
    'keep-alive: timeout=99999999999',
    'content-type: text/html',
    'content-type: application/json; charset=utf-7',
    'content-encoding: gzip',
    'retry-after: -1',
    'x: a\r\n b',
    'x-bytes: \x80\xff',
    '__proto__: a',
    'constructor: a',
  ].map((line) => withLine(line, false)),
  ...[
    'content-length: 1',
    'transfer-encoding: chunked',
    'transfer-encoding: gzip',
    ':status: 200',
    'x : a',
    'x: a\x00b',
    'x: a\rb',
    ': a',
    'no colon',
    `x: ${'a'.repeat(1_000_000)}`,
    Array.from({ length: 10_000 }, (_, at) => `x-${at}: a`).join('\r\n'),
  ].map((line) => withLine(line, true)),
]

function withLine(line: string, isNone: boolean): OddJsonAnswer {
  const give = (connection: Duplex, right: string): void => {
    connection.write(whole(right, `${line}\r\n`))
    if (isNone) connection.end()
  }
  return { what: `header ${JSON.stringify(line.slice(0, 60))}`, isNone, give }
}

function said(
  what: string,
  isNone: boolean,
  bytesOf: (right: string) => string | Buffer,
): OddJsonAnswer {
  return { what, isNone, give: (connection, right) => void connection.end(bytesOf(right)) }
}

const chunked =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'
const pieceOf = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const forged = 'HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"odd":"f"}'

const oddFrames: readonly OddJsonAnswer[] = [
  said('nothing', true, () => ''),
  said('another protocol', true, () => 'SSH-2.0-OpenSSH_9.2\r\n\r\n'),
  said('frames of HTTP/2', true, () => Buffer.from('000006040000000000000300000064', 'hex')),
  said('the request', true, () => 'POST / HTTP/1.1\r\nhost: a\r\n\r\n'),
  said('a body that is longer than its length', false, (right) => `${whole(right).toString()}more`),
  said('a second answer', false, (right) => `${whole(right).toString()}${forged}`),
  said('HTTP/1.0', false, (right) => `HTTP/1.0 200 OK\r\n\r\n${right}`),
  said('a body until the end', false, (right) => `HTTP/1.1 200 OK\r\n\r\n${right}`),
  said('pieces', false, (right) => `${chunked}${pieceOf(right)}0\r\nx: a\r\n\r\n`),
  said('pieces without an end', true, (right) => `${chunked}${pieceOf(right)}`),
  said('a piece without a size', true, (right) => `${chunked}${right}\r\n0\r\n\r\n`),
  said('a piece beyond numbers', true, (right) => `${chunked}${'f'.repeat(24)}\r\n${right}`),
  said('many heads before it', false, (right) => `${early.repeat(60)}${whole(right).toString()}`),
  {
    what: 'a reset',
    isNone: true,
    give: (connection) => void connection.destroy(),
  },
  {
    what: 'another answer on a connection that is kept',
    isNone: false,
    async give(connection, right) {
      connection.write(whole(right))
      // The caller has read the first answer by now, and must close the connection when the second one arrives.
      for (let turn = 0; turn < 50; turn += 1) await nextTurn()
      connection.write(forged)
      for (let turn = 0; turn < 20_000 && !connection.destroyed; turn += 1) await nextTurn()
    },
  },
]

const early = 'HTTP/1.1 103 Early\r\nx: a\r\n\r\n'

/** Answers that end within each part of the head or body. */
const oddCuts: readonly OddJsonAnswer[] = [
  ['the version', 'HTTP/1.'],
  ['the status', 'HTTP/1.1 20'],
  ['the reason', 'HTTP/1.1 200 O'],
  ['the first line', 'HTTP/1.1 200 OK\r'],
  ['the headers', 'HTTP/1.1 200 OK\r\n'],
  ['a name', 'HTTP/1.1 200 OK\r\ncontent-le'],
  ['a value', 'HTTP/1.1 200 OK\r\ncontent-length: 1'],
  ['the end of the head', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r'],
  ['the body, before it', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n'],
  ['the size of a piece', `${chunked}1`],
  ['a piece', `${chunked}ff\r\n{`],
].map(([what = '', bytes = '']) => said(`an end within ${what}`, true, () => bytes))

const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024))

const oddBodies: readonly OddJsonAnswer[] = [
  said('half a body', true, (right) => whole(right).subarray(0, -Math.ceil(right.length / 2))),
  said('a body without its last byte', true, (right) => whole(right).subarray(0, -1)),
  said('an empty body', true, () => whole('')),
  said('half a value', true, () => whole('{"kind":')),
  said('two values', true, (right) => whole(right + right)),
  said('a page', true, () => whole('<!doctype html><p>log in here')),
  said('bytes that are not UTF-8', true, () => whole(Buffer.from('{"a":"\x80\xff', 'latin1'))),
  said('a byte order mark', false, (right) => whole(`\ufeff${right}`)),
  said('NUL', true, () => whole(Buffer.alloc(64))),
  said('a bomb', true, () => whole(bomb, 'content-encoding: gzip\r\n')),
  said('deep lists', true, () => whole('['.repeat(100_000))),
  said('deep objects', false, () => whole(`${'{"a":'.repeat(30_000)}1${'}'.repeat(30_000)}`)),
  said('many members', false, () => whole(`[${'0,'.repeat(200_000)}0]`)),
]

/** Endless answers: the caller's size limit ends them. */
const ceaseless: readonly OddJsonAnswer[] = [
  without('an endless body', 'HTTP/1.1 200 OK\r\n\r\n', 'a'.repeat(65_536)),
  without('endless pieces', chunked, pieceOf(' '.repeat(65_536))),
  without('endless headers', 'HTTP/1.1 200 OK\r\n', `x: ${'a'.repeat(1_000)}\r\n`.repeat(60)),
  without('endless trailers', `${chunked}0\r\n`, `x: ${'a'.repeat(1_000)}\r\n`.repeat(60)),
]

/** Stalling answers: the caller's timeout ends them. */
const silences: readonly OddJsonAnswer[] = [
  silent('silence', ''),
  silent('silence within the head', 'HTTP/1.1 200 OK\r\ncontent-'),
  silent('silence within the body', 'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{'),
  {
    what: 'a byte now and then',
    isNone: true,
    isStalling: true,
    give(connection) {
      connection.write('HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\n')
      const timer = setInterval(() => connection.write(' '), 5)
      connection.once('close', () => clearInterval(timer))
    },
  },
]

function silent(what: string, bytes: string): OddJsonAnswer {
  return {
    what,
    isNone: true,
    isStalling: true,
    give: (connection) => void connection.write(bytes),
  }
}

/** Writes `more` until the caller closes the connection. */
function without(what: string, head: string, more: string): OddJsonAnswer {
  const give = (connection: Duplex): void => {
    const send = (): void => {
      while (!connection.destroyed && connection.write(more, 'latin1')) continue
    }
    connection.on('drain', send)
    connection.write(head)
    send()
  }
  return { what, isNone: true, give }
}
