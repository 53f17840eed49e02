import assert from 'node:assert/strict'
import { test } from 'node:test'
import { streamLimits } from '../../limits-table.ts'
import type { BrowserClock } from '../browser/browser-clock.ts'
import { WatchStream, type StreamSocket } from './watch-stream.ts'

interface Due {
  atMs: number
  call: () => void
}

/** A clock that moves when the test says so, and whose frames are drawn by hand. */
class HandClock implements BrowserClock {
  ms = 1_000
  readonly #due = new Set<Due>()
  readonly frames: (() => void)[] = []

  nowMs(): number {
    return this.ms
  }

  after(ms: number, call: () => void) {
    const due = { atMs: this.ms + ms, call }
    this.#due.add(due)
    return { cancel: () => void this.#due.delete(due) }
  }

  onFrame(call: () => void) {
    this.frames.push(call)
    return { cancel: () => undefined }
  }

  limit(): AbortSignal {
    return new AbortController().signal
  }

  advance(ms: number): void {
    this.ms += ms
    for (const due of [...this.#due].filter(({ atMs }) => atMs <= this.ms)) {
      this.#due.delete(due)
      due.call()
    }
  }

  draw(): void {
    for (const call of this.frames.splice(0)) call()
  }
}

class MemorySocket implements StreamSocket {
  readonly sent: unknown[] = []
  isClosed = false
  onopen: StreamSocket['onopen'] = null
  onmessage: StreamSocket['onmessage'] = null
  onclose: StreamSocket['onclose'] = null

  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }

  close(): void {
    this.isClosed = true
  }

  say(frame: unknown): void {
    this.onmessage?.({ data: JSON.stringify(frame) })
  }
}

function scene() {
  const clock = new HandClock()
  const sockets: MemorySocket[] = []
  const dial = (): MemorySocket => {
    const socket = new MemorySocket()
    sockets.push(socket)
    return socket
  }
  const stream = new WatchStream({ clock, dial, random: () => 0, onBeat: () => undefined })
  const last = (): MemorySocket => {
    const socket = sockets.at(-1)
    assert.ok(socket)
    return socket
  }
  return { clock, stream, sockets, last }
}

const pods = { path: '/clusters/a/api/v1/pods' }
const pod = (name: string) => ({ metadata: { name, namespace: 'x' } })

/** Returns the id of the last opened watch. */
function openedId(socket: MemorySocket): number {
  const opened = socket.sent.flatMap((frame) =>
    typeof frame === 'object' && frame !== null && 'open' in frame ? [Number(frame.open)] : [],
  )
  return opened.at(-1) ?? 0
}

test('many frames before a picture is drawn make one change of the page', () => {
  const { clock, stream, last } = scene()
  let calls = 0
  stream.watch(pods, () => (calls += 1))
  last().onopen?.()
  const id = openedId(last())
  last().say({ id, snapshot: [pod('a')], last: true, resourceVersion: '1' })
  for (let n = 2; n < 50; n += 1) {
    last().say({ id, events: [{ t: 'M', o: pod('a') }], resourceVersion: String(n) })
  }
  assert.equal(calls, 0)
  clock.draw()
  assert.equal(calls, 1)
  assert.equal(stream.view(pods)?.phase, 'live')
})

test('pages that watch the same list share one watch, which outlives them for a moment', () => {
  const { clock, stream, last } = scene()
  const stops = [stream.watch(pods, () => undefined), stream.watch(pods, () => undefined)]
  last().onopen?.()
  const id = openedId(last())
  assert.equal(last().sent.length, 1)
  for (const stop of stops) stop()
  clock.advance(streamLimits.keptMs - 1)
  assert.notEqual(stream.view(pods), undefined)
  clock.advance(1)
  assert.equal(stream.view(pods), undefined)
  assert.deepEqual(last().sent.at(-1), { close: id })
})

test('after a break every list goes on at its revision, and says meanwhile that it is stale', () => {
  const { clock, stream, sockets, last } = scene()
  stream.watch(pods, () => undefined)
  last().onopen?.()
  last().say({ id: openedId(last()), snapshot: [pod('a')], last: true, resourceVersion: '41' })
  last().onclose?.({ code: 1006, reason: '' })
  assert.equal(stream.state.is, 'away')
  assert.equal(stream.view(pods)?.phase, 'stale')
  clock.advance(streamLimits.reconnectMsMin)
  assert.equal(sockets.length, 2)
  last().onopen?.()
  assert.deepEqual(last().sent, [
    { open: openedId(last()), path: pods.path, resourceVersion: '41' },
  ])
})

test('a revision that the server has forgotten leads to a new snapshot', () => {
  const { stream, last } = scene()
  stream.watch(pods, () => undefined)
  last().onopen?.()
  const id = openedId(last())
  last().say({ id, snapshot: [pod('a')], last: true, resourceVersion: '41' })
  last().say({ id, error: { code: 410, reason: 'Expired', message: 'too old' } })
  assert.deepEqual(last().sent.at(-1), { open: openedId(last()), path: pods.path })
  assert.equal(stream.view(pods)?.phase, 'live')
})

test('late frames of an earlier opening change nothing', () => {
  const { stream, last } = scene()
  stream.watch(pods, () => undefined)
  last().onopen?.()
  const before = openedId(last())
  stream.retry(pods)
  last().say({ id: before, snapshot: [pod('ghost')], last: true, resourceVersion: '1' })
  assert.equal(stream.view(pods)?.items.size, 0)
})

test('a silent stream is dialled again', () => {
  const { clock, stream, sockets, last } = scene()
  stream.watch(pods, () => undefined)
  last().onopen?.()
  clock.advance(streamLimits.silenceMsMax - 1)
  last().say({ beat: 5 })
  clock.advance(streamLimits.silenceMsMax)
  assert.equal(stream.state.is, 'away')
  assert.ok(sockets[0]?.isClosed)
  clock.advance(streamLimits.reconnectMsMin)
  assert.equal(sockets.length, 2)
})

test('a tab that nobody sees gives its stream back, and takes it again when it is seen', () => {
  const { clock, stream, sockets, last } = scene()
  stream.watch(pods, () => undefined)
  last().onopen?.()
  stream.setHidden(true)
  clock.advance(streamLimits.hiddenMsMax)
  assert.equal(stream.state.is, 'resting')
  assert.ok(last().isClosed)
  stream.setHidden(false)
  assert.equal(sockets.length, 2)
})

test('a stream rests while nobody is logged in, and its lists go on afterwards', () => {
  const { stream, sockets, last } = scene()
  stream.watch(pods, () => undefined)
  last().onopen?.()
  const id = openedId(last())
  last().say({ id, snapshot: [pod('a')], resourceVersion: '7' })
  stream.rest()
  assert.ok(last().isClosed)
  assert.deepEqual([...(stream.view(pods)?.items.keys() ?? [])], ['x/a'])
  assert.equal(stream.view(pods)?.phase, 'stale')
  stream.wake()
  assert.equal(sockets.length, 2)
  last().onopen?.()
  assert.equal(stream.view(pods)?.items.size, 1)
})

test('the hub is given credits again before they run out', () => {
  const { stream, last } = scene()
  stream.watch(pods, () => undefined)
  last().onopen?.()
  const id = openedId(last())
  for (let n = 0; n < streamLimits.credits; n += 1) {
    last().say({ id, events: [{ t: 'M', o: pod('a') }], resourceVersion: String(n) })
  }
  const given = last().sent.flatMap((frame) =>
    typeof frame === 'object' && frame !== null && 'credits' in frame
      ? [Number(frame.credits)]
      : [],
  )
  assert.ok(given.reduce((sum, each) => sum + each, 0) >= streamLimits.credits / 2)
})
