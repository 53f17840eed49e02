import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, silentLogger, simulatedClock } from '@skerry/base'
import { consoleBounds } from '../limits-table.ts'
import { TabOutput, TabSlowError } from './watch-out.ts'
import { watchList, type WatchAsked } from './watched-list.ts'

const { waitingBytesMax, slowMs } = consoleBounds.watchesStream
const { gatheredBytesMax, quietMs } = consoleBounds.watchedList
const json = { 'content-type': 'application/json' }
const asked: WatchAsked = {
  id: 1,
  path: '/api/v1/configmaps',
  isTable: false,
  resourceVersion: undefined,
}

/** A socket that takes texts and reports none as sent, as one whose peer reads nothing does. */
function stalledSocket() {
  const sent: string[] = []
  return {
    sent,
    bytes: () => sent.reduce((sum, { length }) => sum + length, 0),
    send: (text: string) => void sent.push(text),
  }
}

test('all watches of a tab that reads nothing hold one megabyte, and then end in time', async () => {
  const clock = simulatedClock()
  const socket = stalledSocket()
  const output = new TabOutput(socket, clock)
  const frame = { id: 1, snapshot: ['x'.repeat(100_000)] }
  const signal = new AbortController().signal
  const outcomes: unknown[] = []
  for (let watch = 0; watch < 64; watch += 1) {
    const out = output.open()
    void out.data(frame, signal).then(
      () => outcomes.push('sent'),
      (error: unknown) => outcomes.push(error),
    )
  }
  await clock.advance(slowMs - 1)
  assert.ok(socket.bytes() < waitingBytesMax + 100_100, `${socket.bytes()} bytes wait`)
  const sent = outcomes.length
  await clock.advance(1)
  assert.equal(outcomes.length, 64)
  assert.ok(outcomes.slice(sent).every((error) => error instanceof TabSlowError))
})

test('changes of large objects are read no further than a slow tab has room for', async () => {
  const clock = simulatedClock()
  const output = new TabOutput(stalledSocket(), clock)
  const stop = new AbortController()
  let readBytes = 0
  async function* changes(): AsyncGenerator<Uint8Array> {
    for (let at = 1; at <= 400; at += 1) {
      const metadata = { name: 'large', resourceVersion: String(at) }
      const object = { metadata, data: { text: 'x'.repeat(500_000) } }
      const line = Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object })}\n`)
      readBytes += line.length
      yield line
    }
  }
  const ask = async (target: string) => {
    const list = { metadata: { resourceVersion: '1' }, items: [] }
    const body = target.includes('watch=1') ? changes() : Buffer.from(JSON.stringify(list))
    return { status: 200, headers: json, body }
  }
  const deps = { ask, out: output.open(), clock, random: seededRandom(1), log: silentLogger }
  const watching = watchList(asked, deps, stop.signal)
  watching.catch(() => undefined)
  await clock.advance(slowMs - 1)
  // Bytes on the way, those of the frame that waits, and those gathered; the last object of each may be too much.
  const roomBytes = waitingBytesMax + 2 * gatheredBytesMax + 3 * 501_000
  assert.ok(readBytes < roomBytes, `${readBytes} bytes are read`)
  stop.abort(new Error('the test is over'))
  await assert.rejects(watching)
})

test('a list of large objects comes in smaller parts, and is refused only if no part is small enough', async () => {
  const clock = simulatedClock()
  const frames: { snapshot?: unknown[]; error?: { code: number } }[] = []
  const socket = {
    send: (text: string, onSent: () => void) => {
      frames.push(JSON.parse(text))
      onSent()
    },
  }
  let objectBytes = 400_000
  const ask = async (target: string) => {
    const query = new URLSearchParams(target.split('?')[1])
    if (query.has('watch')) await new Promise<never>(() => undefined)
    const from = Number(query.get('continue') ?? 0)
    const end = Math.min(50, from + Number(query.get('limit')))
    const items = Array.from({ length: end - from }, (_, at) => ({
      metadata: { name: `large-${from + at}` },
      data: { text: 'x'.repeat(objectBytes) },
    }))
    const metadata = { resourceVersion: '7', ...(end < 50 ? { continue: String(end) } : {}) }
    return { status: 200, headers: json, body: Buffer.from(JSON.stringify({ metadata, items })) }
  }
  const deps = { ask, clock, random: seededRandom(1), log: silentLogger }
  const stop = new AbortController()
  void watchList(asked, { ...deps, out: new TabOutput(socket, clock).open() }, stop.signal)
  await clock.advance(1)
  const parts = frames.flatMap(({ snapshot }) => (snapshot ? [snapshot.length] : []))
  assert.deepEqual([parts.length > 1, parts.reduce((sum, part) => sum + part, 0)], [true, 50])
  objectBytes = 3_000_000
  frames.length = 0
  await watchList(asked, { ...deps, out: new TabOutput(socket, clock).open() }, stop.signal)
  assert.equal(frames[0]?.error?.code, 413)
})

test('a list that does not come is said to wait for its cluster, and is shown when it comes', async () => {
  const clock = simulatedClock()
  const frames: unknown[] = []
  const socket = {
    send: (text: string, onSent: () => void) => {
      frames.push(JSON.parse(text))
      onSent()
    },
  }
  const stop = new AbortController()
  const answered = Promise.withResolvers<void>()
  const ask = async (target: string) => {
    if (target.includes('watch=1')) await new Promise<never>(() => undefined)
    await answered.promise
    const list = { metadata: { resourceVersion: '7' }, items: [] }
    return { status: 200, headers: json, body: Buffer.from(JSON.stringify(list)) }
  }
  const out = new TabOutput(socket, clock).open()
  const deps = { ask, out, clock, random: seededRandom(1), log: silentLogger }
  void watchList(asked, deps, stop.signal)
  await clock.advance(quietMs)
  const message = 'there is no answer after 10 s'
  assert.deepEqual(frames, [{ id: 1, state: 'away', message }])
  answered.resolve()
  await clock.advance(1)
  const snapshot = { id: 1, snapshot: [], resourceVersion: '7', part: 0, last: true }
  assert.deepEqual(frames.slice(1), [snapshot])
})
