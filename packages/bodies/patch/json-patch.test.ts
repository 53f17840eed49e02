import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isStatusError, type JsonObject } from '@skerry/api'
import { applyJsonPatch } from './json-patch.ts'
import { applyMergePatch } from './merge-patch.ts'

const operationsMax = 10_000

const base: JsonObject = { data: { a: '1' }, list: ['x', 'y'], 'k/~': 1 }

const applied: [string, object][] = [
  ['[]', base],
  ['[{"op":"add","path":"/data/b","value":5}]', { ...base, data: { a: '1', b: 5 } }],
  ['[{"op":"add","path":"/data/b"}]', { ...base, data: { a: '1', b: null } }],
  ['[{"op":"replace","path":"/data/x","value":1}]', { ...base, data: { a: '1', x: 1 } }],
  ['[{"op":"copy","path":"/data/b","from":"/data/a"}]', { ...base, data: { a: '1', b: '1' } }],
  ['[{"op":"move","path":"/data/b","from":"/data/a"}]', { ...base, data: { b: '1' } }],
  ['[{"op":"test","path":"/data/x","value":null}]', base],
  [
    '[{"op":"test","path":"/data","value":{"a":"1"}},{"op":"remove","path":"/data"}]',
    { list: base['list'], 'k/~': 1 },
  ],
  ['[{"op":"add","path":"/list/1","value":"m"}]', { ...base, list: ['x', 'm', 'y'] }],
  ['[{"op":"add","path":"/list/-","value":"z"}]', { ...base, list: ['x', 'y', 'z'] }],
  ['[{"op":"remove","path":"/list/0"}]', { ...base, list: ['y'] }],
  ['[{"op":"replace","path":"/list/-1","value":"z"}]', { ...base, list: ['x', 'z'] }],
  ['[{"op":"replace","path":"/k~1~0","value":2}]', { ...base, 'k/~': 2 }],
  ['[{"op":"replace","path":"","value":{}}]', {}],
]

test('a JSON patch is applied to a copy', () => {
  const before = JSON.stringify(base)
  for (const [patch, want] of applied) {
    assert.deepEqual(applyJsonPatch(base, JSON.parse(patch)), want, patch)
  }
  assert.equal(JSON.stringify(base), before)
})

test('an operation that cannot be carried out is Invalid, and says no more than upstream', () => {
  const refused = [
    '[{"op":"test","path":"/data/a","value":"2"}]',
    '[{"op":"remove","path":"/data/x"}]',
    '[{"op":"remove","path":"/nothing/x"}]',
    '[{"op":"add","path":"/x/y","value":1}]',
    '[{"op":"add","path":"data","value":1}]',
    '[{"op":"foo","path":"/data"}]',
    '[{"path":"/data"}]',
    '[{"op":"move","path":"/data/b","from":"/data/zz"}]',
    '[{"op":"copy","path":"/data/b"}]',
    '[{"op":"add","path":"/list/5","value":1}]',
    '[{"op":"remove","path":"/list/2"}]',
    '[{"op":"remove","path":"/list/x"}]',
  ]
  for (const patch of refused) {
    assert.throws(
      () => applyJsonPatch(base, JSON.parse(patch)),
      (error) =>
        isStatusError(error, 'Invalid') &&
        error.message === 'the server rejected our request due to an error in our request',
      patch,
    )
  }
})

test('malformed and oversized JSON patches are refused', () => {
  for (const patch of [{ op: 'add' }, [5], [{ op: 5, path: '/a' }], 'x']) {
    assert.throws(
      () => applyJsonPatch(base, patch),
      (error) => isStatusError(error, 'BadRequest'),
    )
  }
  const many = Array.from({ length: operationsMax + 1 }, () => ({ op: 'test' }))
  assert.throws(
    () => applyJsonPatch(base, many),
    (error) => isStatusError(error, 'RequestEntityTooLarge'),
  )
})

test('copies that would double the object again and again are stopped', () => {
  const doubling = Array.from({ length: 60 }, (_, at) => ({
    op: 'copy',
    from: '/data',
    path: `/data/c${at}`,
  }))
  assert.throws(
    () => applyJsonPatch(base, doubling),
    (error) => isStatusError(error, 'Invalid'),
  )
})

test('a merge patch replaces, removes by null, and drops nulls in added values', () => {
  const cases: [object, object][] = [
    [{ data: null }, { list: base['list'], 'k/~': 1 }],
    [{ data: { a: null, b: '2' } }, { ...base, data: { b: '2' } }],
    [{ data: { a: { b: null } } }, { ...base, data: { a: {} } }],
    [{ list: [null] }, { ...base, list: [null] }],
    [{ x: { y: { z: null, w: 1 } } }, { ...base, x: { y: { w: 1 } } }],
  ]
  for (const [patch, want] of cases) assert.deepEqual(applyMergePatch(base, patch), want)
  assert.throws(
    () => applyMergePatch(base, []),
    (error) => isStatusError(error, 'BadRequest'),
  )
})

test('applying a merge patch twice is applying it once', () => {
  const anyObject = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
  fc.assert(
    fc.property(anyObject, anyObject, (object, patch) => {
      const once = applyMergePatch(object, patch)
      assert.deepEqual(applyMergePatch(once, patch), once)
    }),
  )
})
