import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from './log.ts'
import { logFailure, type Failure } from './log-failure.ts'

const failure = { subject: 'Report', message: 'Cluster not reported', fields: { waitMs: 5 } }

function linesOf(given: Failure): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  logFailure(createLogger({ level: 'debug', destination }), given)
  return lines
}

for (const [mistake, error] of [
  ['TypeError', new TypeError('Cannot read properties of undefined')],
  ['ReferenceError', new ReferenceError('x is not defined')],
] as const) {
  test(`a ${mistake} is an error line with its place`, () => {
    const [line, ...others] = linesOf({ ...failure, level: 'debug', error })
    assert.deepEqual(others, [])
    assert.equal(line?.['level'], 'error')
    assert.equal(line['message'], 'Report broke an invariant')
    assert.equal(line['waitMs'], 5)
    assert.match(String(line['stack']), /log-failure\.test\.ts/)
  })
}

for (const [level, error] of [
  ['info', new Error('refused')],
  ['debug', new RangeError('refused')],
  ['info', 'refused'],
] as const) {
  test(`${String(error)} is a line of level ${level}`, () => {
    const [line, ...others] = linesOf({ ...failure, level, error })
    assert.deepEqual(others, [])
    assert.equal(line?.['level'], level)
    assert.equal(line['message'], 'Cluster not reported')
    assert.equal(line['stack'], undefined)
    assert.match(JSON.stringify(line['error']), /refused/)
  })
}
