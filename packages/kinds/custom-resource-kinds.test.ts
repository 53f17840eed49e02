import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from './builtin-kinds.ts'
import { kindsOfCustomResource } from './custom-resource-kinds.ts'
import type { CustomResourceDefinition, Kind, AnyObject } from '@skerry/api'
import { tableOf } from './columns/table.ts'

const crd: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.stable.example.com' },
  spec: {
    group: 'stable.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
    versions: [
      { name: 'v1beta1', served: true, storage: false },
      { name: 'v1alpha1', served: false, storage: false },
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { color: { type: 'string', default: 'red' } },
              },
            },
          },
        },
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        selectableFields: [{ jsonPath: '.spec.color' }],
        additionalPrinterColumns: [
          { name: 'Color', type: 'string', jsonPath: '.spec.color', description: 'Its paint.' },
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', priority: 1 },
          { name: 'When', type: 'date', jsonPath: '.spec.when' },
          { name: 'List', type: 'string', jsonPath: '.spec.list' },
          { name: 'Map', type: 'string', jsonPath: '.spec.map' },
          {
            name: 'Ready',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="Ready")].status',
          },
          { name: 'Wrong type', type: 'integer', jsonPath: '.spec.color' },
          { name: 'Unreadable', type: 'string', jsonPath: '.spec.list[' },
        ],
      },
    ],
  },
}

async function widgetKinds(): Promise<{ v1: Kind; v1beta1: Kind }> {
  const [builtin] = await builtinKinds()
  assert.ok(builtin)
  const [v1beta1, v1, ...others] = kindsOfCustomResource(crd, builtin.schemas)
  assert.ok(v1beta1 && v1 && others.length === 0, 'one kind for each served version')
  return { v1, v1beta1 }
}

test('a CRD gives each served version its names, subresources and selectable fields', async () => {
  const { v1, v1beta1 } = await widgetKinds()
  assert.equal(v1.singular, 'widget')
  assert.equal(v1.listKind, 'WidgetList')
  assert.equal(v1.schemaName, 'com.example.stable.v1.Widget')
  assert.ok('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' in v1.schemas)
  const spec = v1.schemas[v1.schemaName]?.properties?.['spec']
  assert.deepEqual(spec?.properties?.['color'], { type: 'string', default: 'red' })
  assert.deepEqual(v1.selectableFields, ['spec.color'])
  assert.deepEqual(
    v1.subresources.map(({ name, kind }) => `${name} ${kind.kind}`),
    ['status Widget', 'scale Scale'],
  )
  assert.equal(v1beta1.storageVersion, 'v1')
  assert.deepEqual(v1beta1.subresources, [])
})

test('the columns of a CRD show the values of their paths, and nothing where they do not fit', async () => {
  const { v1, v1beta1 } = await widgetKinds()
  const object: AnyObject = {
    apiVersion: 'stable.example.com/v1',
    kind: 'Widget',
    metadata: { name: 'one', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      color: 'blue',
      replicas: 3,
      when: '2026-01-01T00:00:00Z',
      list: ['a', 'b'],
      map: { b: '<', a: '1' },
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  }
  const input = { objects: [object], nowMs: Date.parse('2026-01-01T01:05:00Z'), metadata: {} }
  assert.deepEqual(tableOf({ kind: v1, ...input }).rows[0]?.cells, [
    'one',
    'blue',
    3,
    '65m',
    '["a","b"]',
    String.raw`{"a":"1","b":"\u003c"}`,
    'True',
    null,
    null,
  ])
  assert.deepEqual(tableOf({ kind: v1beta1, ...input }).rows[0]?.cells, ['one', '65m'])
})

test('with a status subresource each path writes only its own part', async () => {
  const { strategy } = (await widgetKinds()).v1
  const widget = (spec: string, status?: string): AnyObject => ({
    apiVersion: 'stable.example.com/v1',
    kind: 'Widget',
    metadata: {},
    spec,
    ...(status === undefined ? {} : { status }),
  })
  const context = { nowMs: 0, newUid: () => 'x', user: 'u' }
  const created = widget('a', 'b')
  strategy.prepareForCreate?.(created, context)
  assert.deepEqual(created, widget('a'))
  const updated = widget('new', 'new')
  strategy.prepareForUpdate?.(updated, widget('old', 'old'), context)
  assert.deepEqual(updated, widget('new', 'old'))
  const reported = widget('new', 'new')
  strategy.prepareForStatusUpdate?.(reported, widget('old', 'old'))
  assert.deepEqual(reported, widget('old', 'new'))
})
