import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contains } from './contains.ts'

const cases: readonly [actual: unknown, wanted: unknown, result: boolean][] = [
  [{ a: 1, b: 2 }, { a: 1 }, true],
  [{ a: 1 }, { a: 2 }, false],
  [{}, { a: 0, b: false, c: '', d: null, e: {} }, true],
  [{ replicas: 3 }, { replicas: 0 }, false],
  [['a', 'b'], ['a'], false],
  [['a'], ['a'], true],
  [undefined, [], true],
  [[{ name: 'x', image: 'a' }, { name: 'y' }], [{ name: 'x' }], true],
  [[{ name: 'x', image: 'a' }], [{ name: 'x', image: 'b' }], false],
  [[{ port: 80, protocol: 'TCP' }], [{ port: 80 }], true],
]

test('every wanted field must be there, and more may be', () => {
  for (const [actual, wanted, result] of cases) {
    assert.equal(contains(actual, wanted), result, JSON.stringify([actual, wanted]))
  }
})
