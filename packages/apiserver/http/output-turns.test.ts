import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OutputTurns } from './output-turns.ts'

const pieceBytes = 128 * 1024

function openTurns() {
  let nowMs = 0
  const clock = { monotonicMs: () => nowMs }
  const passes: (() => void)[] = []
  const outputTurns = new OutputTurns({ clock, nextPass: (call) => void passes.push(call) })
  const written: string[] = []
  const want = (user: string, count: number): void => {
    for (let at = 0; at < count; at += 1) {
      outputTurns.schedule(user, () => {
        written.push(user)
        return pieceBytes
      })
    }
  }
  /** Returns what the next pass writes. */
  const pass = (): string[] => {
    written.length = 0
    passes.shift()?.()
    return [...written]
  }
  const takeTime = (ms: number): void => void (nowMs += ms)
  return { takeTime, outputTurns, written, passes, want, pass }
}

test('readers that drain together each get a little in each pass, with other work in between', () => {
  const { written, want, pass } = openTurns()
  want('mallory', 200)
  assert.equal(written.length, 2, 'the bytes of one pass, written at once')
  let left = 200 - written.length
  while (left > 0) {
    const count = pass().length
    assert.ok(count > 0 && count <= 2, `${count} pieces in one pass`)
    left -= count
  }
  assert.deepEqual(pass(), [])
})

test('a user with one reader waits for one piece of each other user, not for all of them', () => {
  const { want, pass } = openTurns()
  want('mallory', 100)
  want('marvin', 100)
  want('alice', 1)
  assert.deepEqual(pass(), ['mallory', 'marvin'])
  assert.ok(pass().includes('alice'))
})

test('pieces that take long to make end the pass early', () => {
  const { takeTime, outputTurns, passes } = openTurns()
  let count = 0
  for (let at = 0; at < 3; at += 1) {
    outputTurns.schedule('mallory', () => {
      count += 1
      takeTime(10)
      return 1
    })
  }
  assert.equal(count, 1)
  passes.shift()?.()
  assert.equal(count, 2)
})

test('no pass is requested when nobody waits', () => {
  const { want, pass, passes } = openTurns()
  want('alice', 1)
  pass()
  assert.equal(passes.length, 0)
})
