import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { apiServerLimits } from '../limits-table.ts'
import { OutputTurns } from './output-turns.ts'
import { PacedOutput } from './paced-output.ts'
import { UnreadBytes } from './unread-bytes.ts'

/** Opens an output whose reader takes a piece on command. */
function openOutput({ mayStay = false, onBytes = (_bytes: number): void => undefined } = {}) {
  const clock = simulatedClock()
  const unread = new UnreadBytes(apiServerLimits)
  const sizes: number[] = []
  let take: (() => void) | undefined
  const out = new Writable({
    highWaterMark: 1,
    write(piece: Uint8Array, _encoding, taken) {
      sizes.push(piece.length)
      take = taken
    },
  })
  const limits = { ...apiServerLimits, firstPieceBytes: 1_000, chunkBytes: 4_000 }
  const outputTurns = new OutputTurns({ clock, nextPass: setImmediate })
  const deps = { clock, unread, limits, outputTurns, onBytes }
  const output = new PacedOutput(out, out, deps, { user: 'alice', mayStay })
  const read = async (afterMs: number): Promise<void> => {
    await clock.advance(afterMs)
    const taken = take
    take = undefined
    taken?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { clock, unread, sizes, out, output, read }
}

test('a reader gets larger pieces as it reads, and the bytes that wait for it are counted', async () => {
  const { unread, sizes, output, read } = openOutput()
  let isDrained = false
  output.onDrain = () => void (isDrained = true)
  assert.equal(output.write(new Uint8Array(10_000)), false)
  assert.equal(unread.bytesOf('alice'), 10_000)
  await read(10)
  assert.equal(unread.bytesOf('alice'), 9_000)
  for (let count = 0; count < 4; count += 1) await read(10)
  assert.deepEqual(sizes, [1_000, 2_000, 4_000, 3_000])
  assert.equal(isDrained, true)
  assert.equal(unread.bytes, 0)
  output[Symbol.dispose]()
})

test('the pieces of a list count as buffers that nobody keeps, events and small answers do not', async () => {
  let passed = 0
  const { output, read } = openOutput({ onBytes: (bytes) => void (passed += bytes) })
  for (const bytes of [999, 4_000, 50, 1_000]) {
    output.write(new Uint8Array(bytes))
    for (let count = 0; count < 4; count += 1) await read(10)
  }
  assert.equal(passed, 5_000)
  output[Symbol.dispose]()
})

test('a reader that takes nothing for a minute is ended; one that takes a little is not', async () => {
  const { clock, out, output, read, unread } = openOutput()
  output.write(new Uint8Array(10_000))
  for (let count = 0; count < 3; count += 1) {
    await read(apiServerLimits.awayReaderMs - 1)
    assert.equal(out.destroyed, false)
  }
  await clock.advance(apiServerLimits.awayReaderMs)
  assert.equal(out.destroyed, true)
  output[Symbol.dispose]()
  assert.equal(unread.bytes, 0)
})

test('a reader of output that others write may stay away', async () => {
  const { clock, out, output } = openOutput({ mayStay: true })
  output.write(new Uint8Array(10_000))
  await clock.advance(10 * apiServerLimits.awayReaderMs)
  assert.equal(out.destroyed, false)
  output[Symbol.dispose]()
  out.destroy()
})
