import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewLimits } from '../../limits-table.ts'
import { cutLines, LogTail } from './log-tail.ts'

const textsOf = (tail: LogTail): string[] => tail.lines.map(({ text }) => text)

test('lines of several pods stand in the order of their times', () => {
  const tail = new LogTail()
  tail.add('a/c', '2026-01-01T00:00:01.5Z one')
  tail.add('a/c', '2026-01-01T00:00:03.5Z three')
  tail.add('b/c', '2026-01-01T00:00:02.5Z two')
  assert.deepEqual(textsOf(tail), ['one', 'two', 'three'])
})

test('a stream that goes on after a break repeats nothing, and equal lines of one pod at other times stay', () => {
  const tail = new LogTail()
  const before = ['2026-01-01T00:00:01Z a', '2026-01-01T00:00:02Z b', '2026-01-01T00:00:02Z c']
  for (const line of before) tail.add('p/c', line)
  assert.equal(tail.resumeTime('p/c'), '2026-01-01T00:00:02Z')
  tail.addGap('p/c', 'interrupted')
  tail.resume('p/c')
  const after = [...before.slice(1), '2026-01-01T00:00:02Z d', '2026-01-01T00:00:03Z b']
  for (const line of after) tail.add('p/c', line)
  assert.deepEqual(textsOf(tail), ['a', 'b', 'c', 'interrupted', 'd', 'b'])
  tail.add('q/c', '2026-01-01T00:00:03Z b')
  assert.equal(tail.lines.length, 7)
})

test('all lines of a stream that goes on stay as they come, also if the clock of its node is set back', () => {
  const tail = new LogTail()
  const written = [
    '2026-10-25T02:59:59.00001+02:00 before',
    // Its text is less than that of the line before, though it is later.
    '2026-10-25T02:59:59.000010001+02:00 at once',
    '2026-10-25T02:59:58+02:00 set back',
    '2026-10-25T02:00:00+01:00 in winter',
    '2026-10-25T02:00:00+01:00 in winter',
  ]
  for (const line of written) tail.add('p/c', line)
  assert.deepEqual(
    textsOf(tail),
    written.map((line) => line.slice(line.indexOf(' ') + 1)),
  )
  assert.equal(tail.resumeTime('p/c'), '2026-10-25T02:00:00+01:00')
})

test('memory stays bounded, and the number of lines that have left it is known', () => {
  const tail = new LogTail()
  const count = viewLimits.logLinesMax + 5
  for (let n = 0; n < count; n += 1) {
    tail.add('p/c', `2026-01-01T00:00:00.${String(n).padStart(9, '0')}Z ${n}`)
  }
  assert.ok(tail.lines.length <= viewLimits.logLinesMax)
  assert.equal(tail.lines.length + tail.dropped, count)
  assert.equal(tail.total, count)
  assert.equal(tail.lines.at(-1)?.text, String(count - 1))
})

test('a line without a time is kept as it is, and a long one is cut', () => {
  const tail = new LogTail()
  tail.add('p/c', 'unable to retrieve container logs')
  assert.deepEqual(textsOf(tail), ['unable to retrieve container logs'])
  assert.deepEqual(cutLines('ab', 'c\nd\ne'), { lines: ['abc', 'd'], rest: 'e' })
  assert.deepEqual(cutLines('xx', 'xx\nyyyyy', 3), { lines: ['xxx', 'x', 'yyy'], rest: 'yy' })
})

test('a line of ten megabytes loses nothing, and such lines do not fill the memory', () => {
  const tail = new LogTail()
  let rest = ''
  let chars = 0
  for (let piece = 0; piece < 640; piece += 1) {
    const cut = cutLines(rest, 'x'.repeat(65_536))
    rest = cut.rest
    for (const line of cut.lines) {
      tail.add('p/c', line)
      chars += line.length
    }
  }
  assert.equal(chars + rest.length, 640 * 65_536)
  const kept = tail.lines.reduce((sum, { text }) => sum + text.length, 0)
  assert.ok(kept <= viewLimits.logCharsMax, `${kept} characters`)
  assert.equal(tail.lines.length + tail.dropped, tail.total)
})
