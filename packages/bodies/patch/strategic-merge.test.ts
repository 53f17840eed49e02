import assert from 'node:assert/strict'
import { test } from 'node:test'
import schemas from '../../kinds/generated/schema.json' with { type: 'json' }
import { StatusError, isJsonObject, type JsonObject, type SchemaSet } from '@skerry/api'
import { applyStrategicMergePatch } from './strategic-merge.ts'

// The generated file has the shape of a SchemaSet; the compiler only widens its literals.
const type = { schemas: schemas as unknown as SchemaSet, schemaName: 'io.k8s.api.core.v1.Pod' }

const a = {
  name: 'a',
  args: ['1', '2'],
  env: [
    { name: 'X', value: '1' },
    { name: 'Y', value: '2' },
  ],
  ports: [{ containerPort: 80 }, { containerPort: 81 }],
}
const [b, c, d] = [{ name: 'b' }, { name: 'c' }, { name: 'd' }]

/** Each case is a list under one key. The results are those of Kubernetes 1.36 for a Pod template. */
const lists: { key: string; old: unknown[]; patch: JsonObject; want: unknown }[] = [
  {
    key: 'containers',
    old: [a, b],
    patch: { containers: [{ name: 'b', image: 'z' }] },
    want: [a, { name: 'b', image: 'z' }],
  },
  {
    key: 'containers',
    old: [a, b],
    patch: { containers: [{ name: 'e' }, { name: 'a', image: 'q' }] },
    want: [{ name: 'e' }, { ...a, image: 'q' }, b],
  },
  {
    key: 'containers',
    old: [a, b, c],
    patch: { containers: [{ name: 'b', $patch: 'delete' }] },
    want: [a, c],
  },
  {
    key: 'containers',
    old: [a, b],
    patch: { containers: [{ $patch: 'replace' }, { name: 'n' }] },
    want: [{ name: 'n' }],
  },
  {
    key: 'containers',
    old: [a, b, c, d],
    patch: {
      '$setElementOrder/containers': [{ name: 'd' }, { name: 'b' }, { name: 'a' }],
      containers: [{ name: 'b', image: 'k' }],
    },
    want: [c, d, { name: 'b', image: 'k' }, a],
  },
  {
    key: 'containers',
    old: [a, b, c],
    patch: { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }] },
    want: [b, c, a],
  },
  {
    key: 'containers',
    old: [a],
    patch: {
      containers: [{ name: 'a', env: [{ name: 'Z' }, { name: 'X', value: '9' }], args: ['9'] }],
    },
    want: [
      {
        ...a,
        args: ['9'],
        env: [{ name: 'Z' }, { name: 'X', value: '9' }, { name: 'Y', value: '2' }],
      },
    ],
  },
  {
    key: 'containers',
    old: [a],
    patch: { containers: [{ name: 'a', env: [{ name: 'X', $patch: 'delete' }], args: null }] },
    want: [{ name: 'a', env: [{ name: 'Y', value: '2' }], ports: a.ports }],
  },
  {
    key: 'containers',
    old: [a],
    patch: { containers: [{ name: 'a', ports: [{ containerPort: 80, hostPort: 5 }] }] },
    want: [{ ...a, ports: [{ containerPort: 80, hostPort: 5 }, { containerPort: 81 }] }],
  },
  {
    key: 'volumes',
    old: [{ name: 'v', emptyDir: {} }],
    patch: {
      volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'cm' } }],
    },
    want: [{ name: 'v', configMap: { name: 'cm' } }],
  },
  {
    key: 'tolerations',
    old: [{ key: 'a' }],
    patch: { tolerations: [{ key: 'b' }] },
    want: [{ key: 'b' }],
  },
  { key: 'containers', old: [a], patch: { containers: [] }, want: [a] },
]

test('lists are merged by their key, in the requested order', () => {
  for (const { key, old, patch, want } of lists) {
    const merged = applyStrategicMergePatch({ spec: { [key]: old } }, { spec: patch }, type)
    assert.deepEqual(merged['spec'], { [key]: want }, JSON.stringify(patch))
  }
})

const objects: [JsonObject, JsonObject][] = [
  [{ finalizers: ['d/d', 'a/a'] }, { finalizers: ['d/d', 'a/a', 'b/b', 'c/c'] }],
  [{ '$deleteFromPrimitiveList/finalizers': ['b/b'] }, { finalizers: ['a/a', 'c/c'] }],
  [
    {
      '$setElementOrder/finalizers': ['c/c', 'x/x', 'a/a'],
      finalizers: ['x/x'],
      '$deleteFromPrimitiveList/finalizers': ['b/b'],
    },
    { finalizers: ['c/c', 'x/x', 'a/a'] },
  ],
  [{ finalizers: null, labels: { a: '1', b: null } }, { labels: { a: '1', x: '1' } }],
  [{ labels: { $patch: 'replace', z: '1' }, finalizers: null }, { labels: { z: '1' } }],
  [{ labels: { $patch: 'delete' }, finalizers: null }, { labels: {} }],
]

test('a patch follows the directives for maps and sets', () => {
  const metadata = { finalizers: ['a/a', 'b/b', 'c/c'], labels: { x: '1' } }
  for (const [patch, want] of objects) {
    const merged = applyStrategicMergePatch({ metadata }, { metadata: patch }, type)
    const kept = 'labels' in patch ? want : { ...want, labels: metadata.labels }
    assert.deepEqual(merged['metadata'], kept, JSON.stringify(patch))
  }
})

test("nonsense is refused with upstream's code and message", () => {
  const spec = { containers: [a] }
  const cases: [JsonObject, number, string][] = [
    [
      { containers: [{ image: 'z' }] },
      500,
      'map: map[image:z] does not contain declared merge key: name',
    ],
    [
      { containers: [{ name: 'a', $patch: 'zz' }] },
      500,
      'unknown patch type: zz in map: map[$patch:zz name:a]',
    ],
    [{ $retainKeys: ['x'], hostname: 'h' }, 400, 'invalid patch format of retainKeys'],
    [{ $deleteFromPrimitiveList: ['b/b'] }, 400, 'invalid patch format of primitive list'],
    [
      { '$setElementOrder/containers': [{ name: 'd' }], containers: [{ name: 'q' }] },
      500,
      "The order in patch list:\n[map[name:q]]\n doesn't match $setElementOrder list:\n[map[name:d]]\n",
    ],
  ]
  for (const [patch, code, message] of cases) {
    assert.throws(
      () => applyStrategicMergePatch({ spec }, { spec: patch }, type),
      (error) => error instanceof StatusError && error.code === code && error.message === message,
      message,
    )
  }
})

test('a patch of fifty thousand items costs work for each item, not for each pair', () => {
  const containers = Array.from({ length: 50_000 }, (_, at) => ({ name: `c${at}` }))
  const added = containers.map(({ name }) => ({ name: `${name}-new` }))
  const changed = containers.map(({ name }) => ({ name, image: 'i' }))
  const removed = containers.map(({ name }) => ({ name, $patch: 'delete' }))
  const table: readonly (readonly [readonly JsonObject[], readonly JsonObject[]])[] = [
    [added, [...containers, ...added]],
    [changed, changed],
    [removed, []],
  ]
  for (const [patch, expected] of table) {
    const { spec } = applyStrategicMergePatch(
      { spec: { containers } },
      { spec: { containers: patch } },
      type,
    )
    // Each item must be there once, in any order.
    const text = (items: unknown): string =>
      JSON.stringify(
        Array.isArray(items) ? items.map((item) => JSON.stringify(item)).toSorted() : items,
      )
    assert.ok(isJsonObject(spec) && text(spec['containers']) === text(expected))
  }
})
