import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backupName, isBackupDue, surplusBackups } from './backup-plan.ts'

const hourMs = 3_600_000
const everyMs = 12 * hourMs
const nowMs = Date.UTC(2026, 10, 29, 3)
const madeAgo = (hours: number): string => backupName(nowMs - hours * hourMs)
/** A snapshot of a day on which the clock was nine years ahead. */
const ahead = 'snapshot-2035-01-01T00-00-00Z.db'

const due: readonly (readonly [string, readonly string[], boolean])[] = [
  ['the first snapshot is made at once', ['other.db'], true],
  ['no second one is made within the interval', [madeAgo(30), madeAgo(11)], false],
  ['the next one is made after the interval', [madeAgo(30), madeAgo(12)], true],
  ['one of a clock that was ahead does not end the snapshots', [ahead], true],
  ['one of a clock that was ahead does not double them', [madeAgo(1), ahead], false],
]

for (const [title, names, expected] of due) {
  test(title, () => assert.equal(isBackupDue(names, nowMs, everyMs), expected))
}

test('the oldest snapshots go, and no other file', () => {
  const names = ['notes.txt', madeAgo(1), madeAgo(25), madeAgo(13), 'snapshot-new.db']
  assert.deepEqual(surplusBackups(names, nowMs, 2), [madeAgo(25)])
  assert.deepEqual(surplusBackups(names, nowMs, 3), [])
})

test('a snapshot of a clock that was ahead goes before the one that was just made', () => {
  assert.deepEqual(surplusBackups([ahead, madeAgo(12), madeAgo(0)], nowMs, 2), [ahead])
})

test('the snapshots of a clock that starts in 1970 stay', () => {
  const before = [madeAgo(24), madeAgo(12), madeAgo(0)]
  const made = backupName(60_000)
  assert.equal(isBackupDue(before, 60_000, everyMs), true)
  assert.deepEqual(surplusBackups([...before, made], 60_000, 3), [madeAgo(24)])
  assert.equal(isBackupDue([...before, made], 120_000, everyMs), false)
})
