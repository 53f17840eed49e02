import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StatusCause } from '@skerry/api'
import { checkProjectedPath } from './checks.ts'

test('a projected path that leaves its volume, or starts like one, has one cause', () => {
  const reasons = (path: string): (string | undefined)[] => {
    const found: StatusCause[] = []
    checkProjectedPath(path, 'path', found)
    return found.map(({ message }) => message)
  }
  const word = 'Invalid value: '
  assert.deepEqual(reasons('a/b'), [])
  assert.deepEqual(reasons('../x'), [`${word}"../x": must not contain '..'`])
  assert.deepEqual(reasons('..data'), [`${word}"..data": must not start with '..'`])
})
