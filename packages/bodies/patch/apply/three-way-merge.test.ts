import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import schemas from '../../../kinds/generated/schema.json' with { type: 'json' }
import type { SchemaSet } from '@skerry/api'
import { mergeThreeWay, printPath, type ThreeWays } from './three-way-merge.ts'

const box: SchemaSet = {
  Box: {
    type: 'object',
    properties: {
      text: { type: 'string' },
      map: { type: 'object', additionalProperties: { type: 'string' } },
      whole: { type: 'array', items: { type: 'string' } },
      atom: { type: 'object', mapType: 'atomic', additionalProperties: { type: 'string' } },
      set: { type: 'array', listType: 'set', items: { type: 'string' } },
      items: {
        type: 'array',
        listType: 'map',
        listMapKeys: ['name'],
        items: {
          type: 'object',
          properties: { name: { type: 'string' }, a: { type: 'string' }, b: { type: 'string' } },
        },
      },
      any: { type: 'object', preserveUnknownFields: true },
    },
  },
}

interface Case extends ThreeWays {
  readonly title: string
  /** The result if ours wins. */
  readonly want: unknown
  /** The result if theirs wins, where that makes a difference. */
  readonly wantTheirs?: unknown
  readonly clashes?: readonly string[]
}

const item = (name: string, fields: object = {}) => ({ name, ...fields })

const matrix: readonly Case[] = [
  {
    title: 'a scalar that one side changed keeps the change',
    base: { text: '0' },
    ours: { text: '1' },
    theirs: { text: '0' },
    want: { text: '1' },
  },
  {
    title: 'a scalar that both sides changed alike does not clash',
    base: { text: '0' },
    ours: { text: '1' },
    theirs: { text: '1' },
    want: { text: '1' },
  },
  {
    title: 'a scalar that both sides changed differently clashes',
    base: { text: '0' },
    ours: { text: '1' },
    theirs: { text: '2' },
    want: { text: '1' },
    wantTheirs: { text: '2' },
    clashes: ['.text'],
  },
  {
    title: 'a field that both sides added differently clashes',
    base: {},
    ours: { text: '1' },
    theirs: { text: '2' },
    want: { text: '1' },
    wantTheirs: { text: '2' },
    clashes: ['.text'],
  },
  {
    title: 'members of a map are merged one by one',
    base: { map: { a: '0', b: '0', c: '0' } },
    ours: { map: { a: '1', b: '0', d: '1' } },
    theirs: { map: { a: '0', b: '2', c: '0', e: '2' } },
    want: { map: { a: '1', b: '2', d: '1', e: '2' } },
  },
  {
    title: 'a member of a map that one side removed and the other one changed clashes',
    base: { map: { a: '0', b: '0' } },
    ours: { map: { b: '0' } },
    theirs: { map: { a: '2', b: '0' } },
    want: { map: { b: '0' } },
    wantTheirs: { map: { a: '2', b: '0' } },
    clashes: ['.map.a'],
  },
  {
    title: 'a member that both sides removed is gone',
    base: { map: { a: '0', b: '0' } },
    ours: { map: { b: '1' } },
    theirs: { map: { b: '0' } },
    want: { map: { b: '1' } },
  },
  {
    title: 'a whole map that one side removed and the other one changed clashes once',
    base: { map: { a: '0', b: '0' } },
    ours: {},
    theirs: { map: { a: '2', b: '2' } },
    want: {},
    wantTheirs: { map: { a: '2', b: '2' } },
    clashes: ['.map'],
  },
  {
    title: 'an atomic map is one place',
    base: { atom: { a: '0', b: '0' } },
    ours: { atom: { a: '1', b: '0' } },
    theirs: { atom: { a: '0', b: '2' } },
    want: { atom: { a: '1', b: '0' } },
    wantTheirs: { atom: { a: '0', b: '2' } },
    clashes: ['.atom'],
  },
  {
    title: 'an atomic list is one place',
    base: { whole: ['a'] },
    ours: { whole: ['a', 'b'] },
    theirs: { whole: ['a', 'c'] },
    want: { whole: ['a', 'b'] },
    wantTheirs: { whole: ['a', 'c'] },
    clashes: ['.whole'],
  },
  {
    title: 'members of a set are added and removed one by one',
    base: { set: ['a', 'b', 'c'] },
    ours: { set: ['a', 'b', 'x'] },
    theirs: { set: ['y', 'b', 'c'] },
    want: { set: ['y', 'b', 'x'] },
  },
  {
    title: 'items of a list with keys are merged field by field',
    base: { items: [item('p', { a: '0', b: '0' }), item('q', { a: '0' })] },
    ours: { items: [item('p', { a: '1', b: '0' }), item('q', { a: '0' }), item('r')] },
    theirs: { items: [item('p', { a: '0', b: '2' })] },
    want: { items: [item('p', { a: '1', b: '2' }), item('r')] },
  },
  {
    title: 'an item that one side removed and the other one changed clashes as a whole',
    base: { items: [item('p', { a: '0' }), item('q')] },
    ours: { items: [item('q')] },
    theirs: { items: [item('p', { a: '2' }), item('q')] },
    want: { items: [item('q')] },
    wantTheirs: { items: [item('p', { a: '2' }), item('q')] },
    clashes: ['.items[name="p"]'],
  },
  {
    title: 'one item that both sides added is merged, and its fields may clash',
    base: {},
    ours: { items: [item('p', { a: '1', b: '1' })] },
    theirs: { items: [item('p', { a: '2', b: '1' })] },
    want: { items: [item('p', { a: '1', b: '1' })] },
    wantTheirs: { items: [item('p', { a: '2', b: '1' })] },
    clashes: ['.items[name="p"].a'],
  },
  {
    title: 'a new order of one side is kept, and items of the other one find their place',
    base: { items: [item('p'), item('q'), item('r')] },
    ours: { items: [item('r'), item('q'), item('p')] },
    theirs: { items: [item('p'), item('q'), item('s'), item('r')] },
    want: { items: [item('r'), item('q'), item('s'), item('p')] },
  },
  {
    title: 'a list with keys of which one side has the same key twice is one place',
    base: { items: [item('p')] },
    ours: { items: [item('p'), item('p', { a: '1' })] },
    theirs: { items: [item('p', { b: '2' })] },
    want: { items: [item('p'), item('p', { a: '1' })] },
    wantTheirs: { items: [item('p', { b: '2' })] },
    clashes: ['.items'],
  },
  {
    title: 'maps without a schema are merged by member, and their lists are one place',
    base: { any: { deep: { a: 0, list: [1] } } },
    ours: { any: { deep: { a: 1, list: [1, 2] } } },
    theirs: { any: { deep: { a: 0, b: 2, list: [1, 3] } } },
    want: { any: { deep: { a: 1, b: 2, list: [1, 2] } } },
    wantTheirs: { any: { deep: { a: 1, b: 2, list: [1, 3] } } },
    clashes: ['.any.deep.list'],
  },
  {
    title: 'a field that became another type on each side clashes as a whole',
    base: { any: { deep: 1 } },
    ours: { any: { deep: { a: 1 } } },
    theirs: { any: { deep: [1] } },
    want: { any: { deep: { a: 1 } } },
    wantTheirs: { any: { deep: [1] } },
    clashes: ['.any.deep'],
  },
  {
    title: 'an object that both sides deleted is gone',
    base: { text: '0' },
    ours: undefined,
    theirs: undefined,
    want: undefined,
  },
  {
    title: 'an object that one side deleted and the other one left alone is gone',
    base: { text: '0' },
    ours: { text: '0' },
    theirs: undefined,
    want: undefined,
  },
  {
    title: 'an object that one side deleted and the other one changed clashes as a whole',
    base: { text: '0' },
    ours: undefined,
    theirs: { text: '2' },
    want: undefined,
    wantTheirs: { text: '2' },
    clashes: ['.'],
  },
  {
    title: 'a member named like the prototype is a member',
    base: { map: {} },
    ours: { map: JSON.parse('{"__proto__":"1"}') },
    theirs: { map: { a: '2' } },
    want: { map: JSON.parse('{"a":"2","__proto__":"1"}') },
  },
]

for (const { title, want, wantTheirs = want, clashes = [], ...ways } of matrix) {
  test(`a merge of two changes: ${title}`, () => {
    const type = { schema: { ref: 'Box' }, schemas: box }
    const before = JSON.stringify(ways)
    const ours = mergeThreeWay(ways, type, 'ours')
    const theirs = mergeThreeWay(ways, type, 'theirs')
    assert.deepEqual(ours.merged, want)
    assert.deepEqual(theirs.merged, wantTheirs)
    for (const { clashes: found } of [ours, theirs]) {
      assert.deepEqual(
        found.map(({ path }) => printPath(path)),
        clashes,
      )
    }
    assert.equal(JSON.stringify(ways), before)
  })
}

test('a Deployment keeps the image of one side and the variable of the other one', () => {
  const deployment = (image: string, env: object[], replicas: number) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    spec: { replicas, template: { spec: { containers: [{ name: 'app', image, env }] } } },
  })
  const [x, y, z] = ['X', 'Y', 'Z'].map((name) => ({ name, value: '1' }))
  const ways = {
    base: deployment('app:1', [{ ...x }], 1),
    ours: deployment('app:2', [{ ...x }, { ...y }], 2),
    theirs: deployment('app:1', [{ ...x }, { ...z }], 3),
  }
  // The generated file has the shape of a SchemaSet; the compiler only widens its literals.
  const set = schemas as unknown as SchemaSet
  const type = { schema: { ref: 'io.k8s.api.apps.v1.Deployment' }, schemas: set }
  const { merged, clashes } = mergeThreeWay(ways, type, 'theirs')
  assert.deepEqual(merged, deployment('app:2', [{ ...x }, { ...z }, { ...y }], 3))
  assert.deepEqual(
    clashes.map(({ path }) => printPath(path)),
    ['.spec.replicas'],
  )
})

test('any two changes merge to the same whichever side begins, but for clashes and order', () => {
  const text = fc.constantFrom('0', '1', '2')
  const name = fc.constantFrom('p', 'q', 'r')
  const value = fc.record(
    {
      text,
      map: fc.dictionary(name, text, { noNullPrototype: true }),
      whole: fc.array(text, { maxLength: 2 }),
      items: fc.uniqueArray(fc.record({ name, a: text }, { noNullPrototype: true }), {
        selector: (each) => each.name,
      }),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  const type = { schema: { ref: 'Box' }, schemas: box }
  fc.assert(
    fc.property(value, value, value, (base, ours, theirs) => {
      const one = mergeThreeWay({ base, ours, theirs }, type, 'ours')
      const other = mergeThreeWay({ base, ours: theirs, theirs: ours }, type, 'theirs')
      assert.deepEqual(sorted(one.merged), sorted(other.merged))
      assert.equal(one.clashes.length, other.clashes.length)
      // Once merged, the same change changes nothing more.
      const again = mergeThreeWay({ base, ours, theirs: one.merged }, type, 'ours')
      assert.deepEqual(sorted(again.merged), sorted(one.merged))
    }),
  )
})

/** Items of lists with keys in one order: each side keeps its own. */
function sorted(value: unknown): unknown {
  const { items = [], ...rest } = value as { items?: { name: string }[] }
  return { ...rest, items: items.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }
}
