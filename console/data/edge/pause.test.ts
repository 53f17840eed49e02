import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPaused } from './pause.ts'

test('an object is on hold by its field, or by an annotation of any value but false', () => {
  const annotated = (value: string) => ({ annotations: { 'hub.skerry.io/pause': value } })
  const table: readonly (readonly [Parameters<typeof isPaused>[0], boolean])[] = [
    [{ metadata: {}, spec: {} }, false],
    [{ metadata: {}, spec: { paused: true } }, true],
    [{ metadata: annotated('true'), spec: { paused: false } }, true],
    [{ metadata: annotated(''), spec: {} }, true],
    [{ metadata: annotated('false'), spec: {} }, false],
  ]
  for (const [object, expected] of table) assert.equal(isPaused(object), expected)
})
