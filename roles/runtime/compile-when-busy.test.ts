import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { compileWhenBusy, thisCompiler } from './compile-when-busy.ts'

function scene() {
  const clock = simulatedClock()
  const state = { share: 1, started: 0 }
  const compiler = { busyShare: () => state.share, start: () => void (state.started += 1) }
  const stop = new AbortController()
  const done = compileWhenBusy({ clock, compiler }, stop.signal)
  return { clock, state, stop, done }
}

test('a process that is busy for a while is compiled; starting and a moment of work are not enough', async () => {
  const { clock, state, done } = scene()
  await clock.advance(10_000)
  assert.equal(state.started, 0, 'it starts')
  state.share = 0.01
  await clock.advance(60_000)
  for (let minute = 0; minute < 10; minute += 1) {
    state.share = 0.4
    await clock.advance(2_000)
    state.share = 0.01
    await clock.advance(300_000)
  }
  assert.equal(state.started, 0, 'a moment now and then')
  state.share = 0.9
  await clock.advance(4_000)
  assert.equal(state.started, 1, 'busy')
  await done
})

test('a process that always has some work is compiled, too', async () => {
  const { clock, state, done } = scene()
  state.share = 0.1
  await clock.advance(20_000)
  assert.equal(state.started, 0)
  await clock.advance(20_000)
  assert.equal(state.started, 1)
  await done
})

test('a process that ends is not waited for', async () => {
  const { state, stop, done } = scene()
  stop.abort()
  await done
  assert.equal(state.started, 0)
})

test('only an engine that began without its compilers is given them', () => {
  assert.equal(thisCompiler(['--expose-gc']), undefined)
  assert.ok(thisCompiler(['--expose-gc', '--no-opt', '--no-maglev', '--no-sparkplug']))
})
