import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, simulatedClock } from '@skerry/base'
import { until } from '@skerry/testing'
import { errorCodes, type ErrorCode } from './frames/http2-error.ts'
import { frameTypes } from './frames/frame-types.ts'
import { openEchoServer, type EchoServer } from './testing/echo-server.ts'
import {
  emptySettings,
  frame,
  preface,
  RawPeer,
  requestBlock,
  requestFrame,
  uint32,
} from './testing/raw-peer.ts'

/** The server answers others, whatever came before. */
async function assertServes({ port }: EchoServer): Promise<void> {
  using peer = new RawPeer(port)
  peer.greet(requestFrame(1, true))
  await peer.until(({ type, flags }) => type === frameTypes.headers && (flags & 1) === 1)
}

const repeated = (count: number, bytes: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => bytes))
const ping = frame(frameTypes.ping, 0, 0, Buffer.alloc(8))
const resets = Array.from({ length: 1_100 }, (_, at) => [
  requestFrame(at * 2 + 1),
  frame(frameTypes.rstStream, 0, at * 2 + 1, uint32(8)),
]).flat()
/** Streams that the peer makes the server reset, although their calls go on. */
const provoked = Array.from({ length: 1_100 }, (_, at) => [
  requestFrame(at * 2 + 1),
  frame(frameTypes.windowUpdate, 0, at * 2 + 1, uint32(0)),
]).flat()

/** Frames after the greeting, and the code with which the connection ends. */
const endings: readonly (readonly [what: string, frames: readonly Buffer[], code: ErrorCode])[] = [
  ['a frame that is too large', [frame(0, 0, 1, Buffer.alloc(16_385))], 'frameSizeError'],
  ['content on an idle stream', [frame(0, 0, 1, Buffer.from('x'))], 'protocolError'],
  ['a stream of a server', [requestFrame(2)], 'protocolError'],
  ['a stream older than the last', [requestFrame(5, true), requestFrame(3)], 'streamClosed'],
  ['padding without a frame', [requestFrame(1), frame(0, 0x08, 1, Buffer.of(9))], 'protocolError'],
  ['a push', [requestFrame(1), frame(5, 4, 1, uint32(2))], 'protocolError'],
  ['a broken header block', [requestFrame(1, true, Buffer.of(0x80))], 'compressionError'],
  ['a header block without its end', [frame(1, 0, 1, requestBlock), ping], 'protocolError'],
  [
    'header blocks in endless parts',
    [frame(1, 0, 1, requestBlock), repeated(20, frame(9, 0, 1))],
    'enhanceYourCalm',
  ],
  [
    'a header block that is large',
    [frame(1, 0, 1, requestBlock), repeated(2, frame(9, 0, 1, Buffer.alloc(16_000)))],
    'enhanceYourCalm',
  ],
  ['streams that are reset at once', resets, 'enhanceYourCalm'],
  ['streams that the server must reset', provoked, 'enhanceYourCalm'],
  ['settings without end', [repeated(2_100, emptySettings)], 'enhanceYourCalm'],
  ['empty content', [requestFrame(1), repeated(2_100, frame(0, 0, 1))], 'enhanceYourCalm'],
  ['priorities', [repeated(2_100, frame(2, 0, 1, Buffer.alloc(5, 9)))], 'enhanceYourCalm'],
  ['unknown frames', [repeated(2_100, frame(99, 0, 1))], 'enhanceYourCalm'],
  ['a window above its bound', [frame(8, 0, 0, uint32(0x7fff_ffff))], 'flowControlError'],
  ['a window that grows by nothing', [frame(8, 0, 0, uint32(0))], 'protocolError'],
  [
    'more content than the connection allows',
    [requestFrame(1), requestFrame(3), repeated(12, frame(0, 0, 1, Buffer.alloc(16_000)))],
    'flowControlError',
  ],
  ['a first window above its bound', [settingFrame(4, 0x8000_0000)], 'flowControlError'],
]

function settingFrame(id: number, value: number): Buffer {
  return frame(frameTypes.settings, 0, 0, Buffer.concat([Buffer.of(0, id), uint32(value)]))
}

for (const [what, frames, code] of endings) {
  test(`${what} ends the connection with ${code}, and others are served`, async () => {
    await using server = await openEchoServer({ windowBytes: 65_535, streamsMax: 10_000 })
    using peer = new RawPeer(server.port)
    if (code === 'flowControlError') await pauseStreams(server, peer, frames)
    else peer.greet(...frames)
    assert.equal(await peer.endCode(), errorCodes[code])
    await assertServes(server)
  })
}

/** The content of streams that are not read stays in the window. */
async function pauseStreams(
  server: EchoServer,
  peer: RawPeer,
  frames: readonly Buffer[],
): Promise<void> {
  const requests = frames.filter((each) => each[3] === frameTypes.headers)
  peer.greet(...requests)
  await until(() => server.open.size === requests.length)
  for (const stream of server.open) stream.pause()
  peer.socket.write(Buffer.concat(frames.filter((each) => each[3] !== frameTypes.headers)))
}

/** Header blocks of a request, and the code with which its stream alone ends. */
const refusals: readonly (readonly [what: string, block: Buffer, code: ErrorCode])[] = [
  ['no path', Buffer.of(0x83, 0x86), 'protocolError'],
  ['two paths', Buffer.of(0x83, 0x86, 0x84, 0x85), 'protocolError'],
  ['a field before the path', Buffer.of(0x83, 0x86, 0x90, 0x84), 'protocolError'],
  ['a name with a capital', literal('Name', 'x'), 'protocolError'],
  ['a value of two lines', literal('name', 'a\r\nb'), 'protocolError'],
  ['a field of the connection', literal('connection', 'close'), 'protocolError'],
  ['a transfer encoding', literal('transfer-encoding', 'chunked'), 'protocolError'],
  ['a length that is none', literal('content-length', '-1'), 'protocolError'],
  ['another length than its content', literal('content-length', '7'), 'protocolError'],
  ['too many fields', repeated(100, Buffer.of(0x90)), 'enhanceYourCalm'],
]

function literal(name: string, value: string): Buffer {
  const text = (each: string): Buffer =>
    Buffer.concat([Buffer.of(each.length), Buffer.from(each, 'latin1')])
  return Buffer.concat([requestBlock, Buffer.of(0), text(name), text(value)])
}

for (const [what, block, code] of refusals) {
  test(`a request with ${what} is reset with ${code}, and the next is answered`, async () => {
    await using server = await openEchoServer()
    using peer = new RawPeer(server.port)
    const whole = what === 'too many fields' ? Buffer.concat([requestBlock, block]) : block
    peer.greet(requestFrame(1, true, whole), requestFrame(3, true))
    const reset = await peer.until(({ type }) => type === frameTypes.rstStream)
    assert.equal(reset.payload.readUInt32BE(0), errorCodes[code])
    await peer.until(({ type, streamId }) => type === frameTypes.headers && streamId === 3)
    assert.equal(server.open.size, 0)
  })
}

test('a peer that pings and reads no answer is cut', async () => {
  await using server = await openEchoServer()
  using peer = new RawPeer(server.port)
  peer.greet()
  await peer.until(({ type }) => type === frameTypes.settings)
  peer.socket.pause()
  const flood = repeated(10_000, ping)
  await until(() => {
    peer.socket.write(flood)
    return peer.socket.destroyed || peer.socket.errored !== null
  })
  await assertServes(server)
})

test('an answer that its reader does not take for a minute is cut', async () => {
  const clock = simulatedClock()
  await using server = await openEchoServer({}, clock)
  using peer = new RawPeer(server.port)
  const block = Buffer.concat([Buffer.of(0x83, 0x86, 0x04, 14), Buffer.from('/large/1000000')])
  peer.greet(requestFrame(1, true, block))
  const seen = (): number =>
    peer.frames.reduce((sum, { type, payload }) => sum + (type === 0 ? payload.length : 0), 0)
  await until(() => seen() === 65_535)
  await clock.advance(120_000)
  const reset = await peer.until(({ type }) => type === frameTypes.rstStream)
  assert.equal(reset.payload.readUInt32BE(0), errorCodes.cancel)
  assert.equal(server.open.size, 0)
})

test('a peer that never sends its settings is cut', async () => {
  const clock = simulatedClock()
  await using server = await openEchoServer({}, clock)
  using peer = new RawPeer(server.port)
  peer.socket.write(preface)
  await peer.until(({ type }) => type === frameTypes.settings)
  await clock.advance(20_000)
  assert.equal(await peer.endCode(), -1)
})

test('a client that sends its bytes one by one is served', async () => {
  await using server = await openEchoServer()
  using peer = new RawPeer(server.port)
  peer.socket.setNoDelay(true)
  const bytes = Buffer.concat([
    preface,
    emptySettings,
    requestFrame(1),
    frame(0, 1, 1, Buffer.from('hello')),
  ])
  for (const byte of bytes) {
    await new Promise<void>((resolve) => peer.socket.write(Buffer.of(byte), () => resolve()))
  }
  const content = await peer.until(({ type }) => type === frameTypes.data)
  assert.equal(content.payload.toString(), 'hello')
})

for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
  test(`no frames of a hostile peer end the server or hold others up (seed ${seed})`, async () => {
    await using server = await openEchoServer({ windowBytes: 100_000 })
    const random = seededRandom(seed)
    for (let connection = 0; connection < 40; connection += 1) {
      using peer = new RawPeer(server.port)
      peer.greet(...Array.from({ length: 60 }, () => randomFrame(() => random.next())))
      if (connection % 8 === 0) await assertServes(server)
    }
    await until(() => server.open.size === 0)
    await assertServes(server)
  })
}

/** Most frames make sense, so that the server gets far with them; some have a bit turned, or end early. */
function randomFrame(next: () => number): Buffer {
  const below = (max: number): number => Math.floor(next() * max)
  const streamId = next() < 0.1 ? below(2 ** 31) : below(16) * 2 + 1
  const noise = Buffer.from(Array.from({ length: below(60) }, () => below(256)))
  const likely: readonly (() => Buffer)[] = [
    () => requestFrame(streamId, next() < 0.5),
    () => requestFrame(streamId, next() < 0.5, Buffer.concat([requestBlock, noise])),
    () => frame(frameTypes.data, below(2) | (next() < 0.2 ? 8 : 0), streamId, noise),
    () => frame(frameTypes.rstStream, 0, streamId, uint32(below(14))),
    () => frame(frameTypes.windowUpdate, 0, next() < 0.5 ? 0 : streamId, uint32(below(100_000))),
    () => settingFrame(below(8), below(70_000)),
    () => ping,
    () => frame(frameTypes.headers, below(256), streamId, noise),
    () => frame(frameTypes.continuation, below(8), streamId, noise),
    () => frame(below(12), below(256), below(4), noise),
  ]
  // Rare ones come last.
  const bytes = likely[Math.floor(next() ** 2 * likely.length)]?.() ?? ping
  if (next() < 0.05) bytes[below(bytes.length)] = below(256)
  return next() < 0.02 ? bytes.subarray(0, below(bytes.length)) : bytes
}
