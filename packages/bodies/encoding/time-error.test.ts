import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeErrorText } from './time-error.ts'

const layout = '2006-01-02T15:04:05Z07:00'
const cases: readonly (readonly [text: string, said: string])[] = [
  ['yesterday', ` as "${layout}": cannot parse "yesterday" as "2006"`],
  ['', ` as "${layout}": cannot parse "" as "2006"`],
  ['2024-01-01', ` as "${layout}": cannot parse "" as "T"`],
  ['2024-1-01T00:00:00Z', ` as "${layout}": cannot parse "1-01T00:00:00Z" as "01"`],
  ['2024-01-01T00:00:00', ` as "${layout}": cannot parse "" as "Z07:00"`],
  ['2024-13-01T00:00:00Z', ': month out of range'],
  ['2024-02-30T00:00:00Z', ': day out of range'],
  ['2024-01-01T24:00:00Z', ': hour out of range'],
  ['2024-01-01T00:00:00Za', ': extra text: "a"'],
]

for (const [text, said] of cases) {
  test(`an invalid time is refused in Go's words: ${JSON.stringify(text)}`, () => {
    assert.equal(timeErrorText(text), `parsing time ${JSON.stringify(text)}${said}`)
  })
}

test('a text that is not ASCII is shown by its bytes', () => {
  const said = timeErrorText('ä"\\')
  assert.match(said, /^parsing time "\\xc3\\xa4\\"\\\\" as/)
})

test('a time in microseconds has six digits', () => {
  assert.equal(
    timeErrorText('2024-01-01T00:00:00Z', true),
    'parsing time "2024-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  )
})
