import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, type Random } from '@skerry/base'
import {
  FrameError,
  frameHeaderBytes,
  frameTypes,
  writeFrameHeader,
  type FrameType,
} from './tunnel-frame.ts'
import { FramePieces, type Frame as FramePart } from './frame-pieces.ts'

const bodyTypes: readonly FrameType[] = [frameTypes.open, frameTypes.answer, frameTypes.data]

interface Frame {
  readonly type: FrameType
  readonly isEnd: boolean
  readonly stream: number
  readonly payload: Buffer
}

function encode(frames: readonly Frame[]): Buffer {
  const parts = frames.flatMap(({ payload, ...rest }) => {
    const header = Buffer.alloc(frameHeaderBytes)
    writeFrameHeader(header, 0, { ...rest, length: payload.length })
    return [header, payload]
  })
  return Buffer.concat(parts)
}

function decode(message: Buffer): Frame[] {
  const frames: Frame[] = []
  new FramePieces().read(message, true, ({ type, isEnd, stream, payload }) => {
    frames.push({ type, isEnd, stream, payload })
  })
  return frames
}

const whole = (random: Random, most: number): number => Math.floor(random.next() * most)

function randomFrame(random: Random): Frame {
  const type = bodyTypes[whole(random, bodyTypes.length)] ?? frameTypes.data
  const payload = Buffer.alloc(4 + whole(random, 2_000), whole(random, 256))
  const isEnd = type !== frameTypes.answer && random.next() < 0.5
  return { type, isEnd, stream: 1 + whole(random, 0x7fff_fffe), payload }
}

const seed = 20_261
test(`frames come out of a message as they went in (seed ${seed})`, () => {
  const random = seededRandom(seed)
  for (let round = 0; round < 500; round += 1) {
    const frames = Array.from({ length: 1 + whole(random, 8) }, () => randomFrame(random))
    assert.deepEqual(decode(encode(frames)), frames)
  }
})

test(`frames come out the same however their bytes are cut (seed ${seed})`, () => {
  const random = seededRandom(seed)
  for (let round = 0; round < 300; round += 1) {
    const frames = Array.from({ length: 1 + whole(random, 8) }, () => randomFrame(random))
    const wire = encode(frames)
    const reader = new FramePieces()
    const parts: Frame[] = []
    let wireBytes = 0
    for (let offset = 0; offset < wire.length || offset === 0;) {
      const end = offset + 1 + whole(random, random.next() < 0.5 ? 12 : 3_000)
      reader.read(wire.subarray(offset, end), end >= wire.length, (part) => {
        wireBytes += part.wireBytes
        addTo(parts, part)
      })
      offset = end
    }
    assert.deepEqual(parts, frames)
    assert.equal(wireBytes, wire.length)
  }
})

/** Joins bodies that come in parts; a stream may have several whole frames in a row. */
function addTo(parts: Frame[], { type, isEnd, stream, payload, wireBytes }: FramePart): void {
  const last = parts.at(-1)
  const isFirst = wireBytes === payload.length + frameHeaderBytes
  if (isFirst || last === undefined) parts.push({ type, isEnd, stream, payload })
  else parts[parts.length - 1] = { ...last, isEnd, payload: Buffer.concat([last.payload, payload]) }
}

test(`a changed or shortened message is refused, or read within its bounds (seed ${seed})`, () => {
  const random = seededRandom(seed)
  let refused = 0
  for (let round = 0; round < 5_000; round += 1) {
    const message = encode([randomFrame(random), randomFrame(random)])
    for (let change = 0; change <= whole(random, 4); change += 1) {
      message[whole(random, Math.min(message.length, 12))] = whole(random, 256)
    }
    const cut = message.subarray(0, whole(random, message.length + 1))
    try {
      const bytes = decode(cut).reduce((sum, { payload }) => sum + payload.length, 0)
      assert.ok(bytes < cut.length)
    } catch (error) {
      assert.ok(error instanceof FrameError, String(error))
      refused += 1
    }
  }
  assert.ok(refused > 1_000, `${refused} were refused`)
})

const one = Buffer.alloc(1)
const four = Buffer.alloc(4)
const bad: readonly { what: string; message: Buffer; words: RegExp }[] = [
  { what: 'nothing', message: Buffer.alloc(0), words: /without a frame/ },
  { what: 'half a header', message: Buffer.alloc(5, 1), words: /cut short/ },
  {
    what: 'a length beyond the message',
    message: Buffer.from([3, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0]),
    words: /longer than its message/,
  },
  { what: 'an unknown type', message: Buffer.from([9, 0, 0, 0, 0, 0, 0, 1]), words: /type 9/ },
  {
    what: 'data for the tunnel itself',
    message: encode([{ type: frameTypes.data, isEnd: false, stream: 0, payload: one }]),
    words: /for stream 0/,
  },
  {
    what: 'an end in a frame that has none',
    message: encode([{ type: frameTypes.credit, isEnd: true, stream: 1, payload: four }]),
    words: /an end in/,
  },
  {
    what: 'credit of one byte',
    message: encode([{ type: frameTypes.credit, isEnd: false, stream: 1, payload: one }]),
    words: /with 1 bytes/,
  },
  {
    what: 'a request without its credit',
    message: encode([{ type: frameTypes.open, isEnd: true, stream: 1, payload: one }]),
    words: /head cut short/,
  },
]
for (const { what, message, words } of bad) {
  test(`a message is refused: ${what}`, () => {
    assert.throws(
      () => decode(message),
      (error) => error instanceof FrameError && words.test(error.message),
    )
  })
}
