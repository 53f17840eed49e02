import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isStatusError, type AnyObject, type SchemaSet } from '@skerry/api'
import { applyServerSide } from './apply-server-side.ts'

const schemas: SchemaSet = {
  Box: {
    type: 'object',
    embeddedResource: true,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object', properties: { name: { type: 'string' } } },
      spec: {
        type: 'object',
        properties: {
          map: { type: 'object', additionalProperties: { type: 'string' } },
          set: { type: 'array', listType: 'set', items: { type: 'string' } },
          items: {
            type: 'array',
            listType: 'map',
            listMapKeys: ['name'],
            items: {
              type: 'object',
              properties: { name: { type: 'string' }, value: { type: 'string' } },
            },
          },
          whole: { type: 'array', items: { type: 'string' } },
          any: { type: 'object', preserveUnknownFields: true },
        },
      },
    },
  },
}

interface Call {
  live?: AnyObject
  manager?: string
  isForced?: boolean
}

function box(spec: unknown): AnyObject {
  return { apiVersion: 'x/v1', kind: 'Box', metadata: { name: 'b' }, spec }
}

function apply(spec: unknown, { live, manager = 'one', isForced = false }: Call = {}): AnyObject {
  return applyServerSide({
    ...(live ? { live } : {}),
    applied: box(spec),
    schemas,
    schemaName: 'Box',
    manager,
    isForced,
    apiVersion: 'x/v1',
    nowMs: 0,
  })
}

test('a custom resource is merged by its list types', () => {
  const first = apply({
    set: ['a', 'b'],
    items: [{ name: 'p', value: '1' }],
    whole: ['x'],
    any: { k: { l: 1 } },
  })
  const both = apply(
    { set: ['c', 'a'], items: [{ name: 'q' }], any: { k: { m: 2 } } },
    { live: first, manager: 'two' },
  )
  assert.deepEqual(both['spec'], {
    set: ['c', 'a', 'b'],
    items: [{ name: 'p', value: '1' }, { name: 'q' }],
    whole: ['x'],
    any: { k: { l: 1, m: 2 } },
  })
  const left = apply({ set: ['b'] }, { live: both })
  assert.deepEqual(left['spec'], {
    set: ['c', 'a', 'b'],
    items: [{ name: 'q' }],
    any: { k: { m: 2 } },
  })
})

test('an atomic list is owned as a whole', () => {
  const live = apply({ whole: ['x', 'y'] })
  assert.throws(
    () => apply({ whole: ['x'] }, { live, manager: 'two' }),
    (error) =>
      isStatusError(error, 'Conflict') &&
      error.message === 'Apply failed with 1 conflict: conflict with "one": .spec.whole',
  )
  assert.deepEqual(apply({ whole: ['x'] }, { live, manager: 'two', isForced: true })['spec'], {
    whole: ['x'],
  })
})

test('an object that is not a configuration of this kind is refused', () => {
  const cases: [AnyObject, string][] = [
    [{ ...box({}), kind: 'Bag' }, 'invalid object type: x/v1, Kind=Bag'],
    [{ ...box({}), metadata: { managedFields: [] } }, 'metadata.managedFields must be nil'],
  ]
  for (const [applied, message] of cases) {
    const options = { applied, schemas, schemaName: 'Box', manager: 'm', isForced: false }
    assert.throws(
      () => applyServerSide({ ...options, apiVersion: 'x/v1', kind: 'Box', nowMs: 0 }),
      (error) => isStatusError(error, 'BadRequest') && error.message === message,
    )
  }
  assert.throws(
    () => apply({ set: ['a', 'a'] }),
    (error) =>
      isStatusError(error, 'Unknown') &&
      error.message.endsWith('.spec.set: duplicate entries for key [="a"]'),
  )
})

test('an apply reports the first of the fields that a map does not know, and one of each map', () => {
  assert.throws(
    () => apply({ items: [{ name: 'p', x: 1, y: 2 }], map: { a: 'b' }, x: 1, y: 2 }),
    (error) =>
      isStatusError(error, 'Unknown') &&
      error.message.includes('.spec.items[name="p"].x: field not declared in schema') &&
      error.message.includes('.spec.x: field not declared in schema') &&
      !error.message.includes('.y:'),
  )
})

const anyText = fc.constantFrom('a', 'b', 'c')
const anySpec = fc.record(
  {
    map: fc.dictionary(anyText, anyText),
    set: fc.uniqueArray(anyText),
    items: fc.uniqueArray(fc.record({ name: anyText, value: anyText }), {
      selector: (item) => item.name,
    }),
    whole: fc.array(anyText, { maxLength: 3 }),
  },
  { requiredKeys: [] },
)

test('applying twice is applying once', () => {
  fc.assert(
    fc.property(anySpec, anySpec, (first, second) => {
      const live = apply(first)
      const once = apply(second, { live, manager: 'two', isForced: true })
      assert.deepEqual(apply(second, { live: once, manager: 'two' }), once)
    }),
  )
})

test("two managers of different keys never lose each other's fields", () => {
  fc.assert(
    fc.property(anySpec, anySpec, (first, second) => {
      const live = apply({ map: { mine: '1' }, ...first })
      const other = apply({ map: { theirs: '2' } }, { live, manager: 'two' })
      const gone = apply(second, { live: other, isForced: true })
      assert.equal(Reflect.get(Object(Reflect.get(Object(gone['spec']), 'map')), 'theirs'), '2')
    }),
  )
})
