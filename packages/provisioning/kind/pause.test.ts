import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pausedBy } from './pause.ts'

const annotated = (value: string) => ({ annotations: { 'hub.skerry.io/pause': value } })
const cases: readonly [Parameters<typeof pausedBy>[0], string | undefined][] = [
  [{ metadata: {}, spec: {} }, undefined],
  [{ metadata: {}, spec: { paused: false } }, undefined],
  [{ metadata: annotated('false'), spec: {} }, undefined],
  [{ metadata: {}, spec: { paused: true } }, 'spec.paused'],
  [{ metadata: annotated('true'), spec: {} }, 'annotation hub.skerry.io/pause'],
  [{ metadata: annotated(''), spec: { paused: false } }, 'annotation hub.skerry.io/pause'],
  [
    { metadata: annotated('olga, until Monday'), spec: { paused: true } },
    'spec.paused and annotation hub.skerry.io/pause',
  ],
]
for (const [object, expected] of cases) {
  const { metadata, spec } = object
  test(`${JSON.stringify([metadata, spec])} is ${expected === undefined ? 'not paused' : `paused by ${expected}`}`, () => {
    assert.equal(pausedBy(object), expected)
  })
}
