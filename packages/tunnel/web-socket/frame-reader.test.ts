import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, type Random } from '@skerry/base'
import { linkHeadBytes } from '../frame/tunnel-link.ts'
import { applyMask, frameHeadBytesMax, writeFrameHead } from './frame-head.ts'
import { FrameReader } from './frame-reader.ts'
import { closeCodes, WebSocketFault } from './web-socket-fault.ts'

interface Part {
  readonly opcode: number
  readonly payload: Buffer
  readonly isFinal?: boolean
  readonly mask?: Buffer
}

function encode({ opcode, payload, isFinal = true, mask }: Part): Buffer {
  const head = Buffer.alloc(frameHeadBytesMax)
  const { length } = payload
  const start = writeFrameHead(head, frameHeadBytesMax, { opcode, length, mask })
  if (!isFinal) head[start] = opcode
  const body = Buffer.from(payload)
  if (mask) applyMask(body, mask)
  return Buffer.concat([head.subarray(start), body])
}

/** Returns a reader's events as text, with the pieces of each message joined. */
function read(
  chunks: readonly Buffer[],
  isMaskWanted: boolean,
  messageBytesMax = 100_000,
): string[] {
  const said: string[] = []
  let message = ''
  const reader = new FrameReader(
    { isMaskWanted, messageBytesMax },
    {
      onPiece(piece, isLast) {
        message += piece.toString('latin1')
        if (!isLast) return
        said.push(`message ${message}`)
        message = ''
      },
      onPing: (payload) => said.push(`ping ${payload.toString('latin1')}`),
      onPong: (payload) => said.push(`pong ${payload.toString('latin1')}`),
      onClose: (code, reason) => said.push(`close ${code} ${reason}`),
    },
  )
  for (const chunk of chunks) reader.read(chunk)
  return said
}

const whole = (random: Random, most: number): number => Math.floor(random.next() * most)
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

/** A message in up to four frames, with pings and pongs between them. */
function conversation(random: Random, isMasked: boolean): { wire: Buffer; said: string[] } {
  const parts: Part[] = []
  const said: string[] = []
  const mask = (): Pick<Part, 'mask'> =>
    isMasked
      ? { mask: Buffer.from([0, 1, 2, 3].map(() => whole(random, 256) * whole(random, 2))) }
      : {}
  for (let count = 0; count < 4; count += 1) {
    const frames = 1 + whole(random, 4)
    let message = ''
    for (let index = 0; index < frames; index += 1) {
      const text = 'abcdefg'.repeat(whole(random, 60) * whole(random, 3))
      message += text
      const opcode = index === 0 ? 2 : 0
      const isFinal = index === frames - 1
      if (random.next() < 0.3) {
        const name = random.next() < 0.5 ? 'ping' : 'pong'
        parts.push({ opcode: name === 'ping' ? 9 : 10, payload: bytes(`p${count}`), ...mask() })
        said.push(`${name} p${count}`)
      }
      parts.push({ opcode, isFinal, payload: bytes(text), ...mask() })
    }
    said.push(`message ${message}`)
  }
  return { wire: Buffer.concat(parts.map(encode)), said }
}

function cut(wire: Buffer, random: Random): Buffer[] {
  const chunks: Buffer[] = []
  for (let offset = 0; offset < wire.length;) {
    const end = offset + 1 + whole(random, random.next() < 0.5 ? 4 : 400)
    chunks.push(wire.subarray(offset, end))
    offset = end
  }
  return chunks
}

const seed = 61_455
for (const isMasked of [true, false]) {
  const title = isMasked ? 'a client' : 'a server'
  test(`the bytes that ${title} sends are read the same however they are cut (seed ${seed})`, () => {
    const random = seededRandom(seed)
    for (let round = 0; round < 200; round += 1) {
      const { wire, said } = conversation(random, isMasked)
      assert.deepEqual(read(cut(wire, random), isMasked), said)
    }
    const { wire, said } = conversation(random, isMasked)
    assert.deepEqual(
      read(
        [...wire].map((byte) => Buffer.from([byte])),
        isMasked,
      ),
      said,
    )
  })
}

test('bytes that come together are not copied, and a mask does not change them for others', () => {
  const mask = Buffer.from([1, 2, 3, 4])
  const wire = encode({ opcode: 2, payload: Buffer.alloc(70_000, 'x'), mask })
  const before = Buffer.from(wire)
  assert.deepEqual(read([wire], true), [`message ${'x'.repeat(70_000)}`])
  assert.deepEqual(wire, before)
  const plain = encode({ opcode: 2, payload: Buffer.alloc(70_000, 'x') })
  const heard = (): void => undefined
  const events = { onPing: heard, onPong: heard, onClose: heard }
  const views: Buffer[] = []
  const reader = new FrameReader(
    { isMaskWanted: false, messageBytesMax: 100_000 },
    { ...events, onPiece: (piece) => views.push(piece) },
  )
  reader.read(plain.subarray(0, 40_000))
  reader.read(plain.subarray(40_000))
  assert.deepEqual(
    views.map(({ buffer }) => buffer === plain.buffer),
    [true, true],
  )
})

test('nothing is read after a close', () => {
  const close = encode({
    opcode: 8,
    payload: Buffer.concat([Buffer.from([3, 0xe9]), bytes('bye')]),
  })
  const more = encode({ opcode: 9, payload: bytes('late') })
  assert.deepEqual(read([Buffer.concat([close, more]), more], false), ['close 1001 bye'])
  assert.deepEqual(read([encode({ opcode: 8, payload: bytes('') })], false), ['close 1005 '])
})

const zeros = Buffer.alloc(4)
const frame = (opcode: number, length: number, isFinal = true): Buffer =>
  encode({ opcode, payload: Buffer.alloc(length, 'a'), isFinal })
const closeOf = (...payload: number[]): Buffer =>
  encode({ opcode: 8, payload: Buffer.from(payload) })
const { protocolError, unsupportedData, tooBig, invalidText } = closeCodes

const hostile: readonly { what: string; wire: Buffer; code: number; isMaskWanted?: boolean }[] = [
  { what: 'a reserved bit', wire: Buffer.from([0xc2, 0]), code: protocolError },
  { what: 'an unknown kind of data', wire: frame(3, 1), code: protocolError },
  { what: 'an unknown kind of control', wire: frame(11, 1), code: protocolError },
  { what: 'text', wire: frame(1, 1), code: unsupportedData },
  { what: 'a control frame in parts', wire: frame(9, 1, false), code: protocolError },
  { what: 'a control frame of 126 bytes', wire: frame(9, 126), code: protocolError },
  { what: 'the rest of no message', wire: frame(0, 1), code: protocolError },
  {
    what: 'a message within another',
    wire: Buffer.concat([frame(2, 1, false), frame(2, 1)]),
    code: protocolError,
  },
  { what: 'a client without a mask', wire: frame(2, 1), code: protocolError, isMaskWanted: true },
  {
    what: 'a server with a mask',
    wire: encode({ opcode: 2, payload: Buffer.alloc(1), mask: zeros }),
    code: protocolError,
  },
  {
    what: 'a length that no message has',
    wire: Buffer.from([0x82, 127, 0, 0, 1, 0, 0, 0, 0, 0]),
    code: tooBig,
  },
  {
    what: 'a length with its highest bit set',
    wire: Buffer.from([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]),
    code: protocolError,
  },
  {
    what: 'a message that grows above the limit in its parts',
    wire: Buffer.concat([frame(2, 60_000, false), frame(0, 60_000, false)]),
    code: tooBig,
  },
  { what: 'half a code', wire: closeOf(3), code: protocolError },
  { what: 'a code that is never sent', wire: closeOf(3, 0xed), code: protocolError },
  { what: 'a code of nobody', wire: closeOf(0x13, 0x88), code: protocolError },
  { what: 'a reason that is not UTF-8', wire: closeOf(3, 0xe8, 0xff), code: invalidText },
]
for (const { what, wire, code, isMaskWanted = false } of hostile) {
  test(`refused with ${code}: ${what}`, () => {
    const isFault = (error: unknown): boolean =>
      error instanceof WebSocketFault && error.code === code
    assert.throws(() => read([wire], isMaskWanted), isFault)
    const single = [...wire].map((byte) => Buffer.from([byte]))
    assert.throws(() => read(single, isMaskWanted), isFault)
  })
}

test(`noise is refused or read, whatever it is (seed ${seed})`, () => {
  const random = seededRandom(seed)
  for (let round = 0; round < 3_000; round += 1) {
    const noise = Buffer.from(Array.from({ length: whole(random, 40) }, () => whole(random, 256)))
    try {
      read(cut(noise, random), random.next() < 0.5)
    } catch (error) {
      assert.ok(error instanceof WebSocketFault, String(error))
    }
  }
})

test('a message of the tunnel has room for the longest head before it', () => {
  assert.equal(linkHeadBytes, frameHeadBytesMax)
})
