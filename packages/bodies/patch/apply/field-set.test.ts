import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  decodeFieldSet,
  differenceOf,
  encodeFieldSet,
  intersectionOf,
  isEmptySet,
  noFields,
  oneField,
  pathsOf,
  recursiveDifferenceOf,
  unionOf,
  type FieldSet,
} from './field-set.ts'

const anyElement = fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:"y"', 'i:0')

const anySet = fc
  .array(fc.array(anyElement, { minLength: 1, maxLength: 4 }), { maxLength: 12 })
  .map((paths) => paths.map(setOfPath).reduce(unionOf, noFields))

function setOfPath(path: readonly string[]): FieldSet {
  return path.reduceRight<FieldSet>(
    (below, element) => ({ isMember: false, children: new Map([[element, below]]) }),
    oneField,
  )
}

const asText = (set: FieldSet): string => JSON.stringify(encodeFieldSet(set))

test('a set survives encoding', () => {
  fc.assert(
    fc.property(anySet, (set) => {
      const encoded = encodeFieldSet(set)
      assert.deepEqual(encodeFieldSet(decodeFieldSet(encoded)), encoded)
    }),
  )
})

test('the operations are those of sets', () => {
  fc.assert(
    fc.property(anySet, anySet, (a, b) => {
      const paths = (set: FieldSet): Set<string> => new Set(pathsOf(set))
      assert.deepEqual(paths(unionOf(a, b)), paths(a).union(paths(b)))
      assert.deepEqual(paths(intersectionOf(a, b)), paths(a).intersection(paths(b)))
      assert.deepEqual(paths(differenceOf(a, b)), paths(a).difference(paths(b)))
      assert.equal(asText(unionOf(a, b)), asText(unionOf(b, a)))
      assert.ok(isEmptySet(differenceOf(a, a)))
    }),
  )
})

test('a recursive difference removes everything below', () => {
  const set = decodeFieldSet({ 'f:a': { '.': {}, 'f:b': { 'f:c': {} } }, 'f:d': {} })
  const rest = recursiveDifferenceOf(set, decodeFieldSet({ 'f:a': {} }))
  assert.deepEqual(encodeFieldSet(rest), { 'f:d': {} })
})

test('keys are brought into one order, unknown elements are dropped, malformed ones refused', () => {
  const set = decodeFieldSet({ 'k:{"protocol":"TCP","containerPort":80}': {}, 'z:new': {} })
  assert.deepEqual(encodeFieldSet(set), { 'k:{"containerPort":80,"protocol":"TCP"}': {} })
  assert.deepEqual(pathsOf(set), ['[containerPort=80,protocol="TCP"]'])
  for (const fields of [{ 'k:x': {} }, { x: {} }, { 'f:a': 5 }, null]) {
    assert.throws(() => decodeFieldSet(fields), RangeError)
  }
})
