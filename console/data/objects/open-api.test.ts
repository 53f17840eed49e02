import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  documentPath,
  fieldsAt,
  item,
  kindSchema,
  schemaAt,
  valuesAt,
  type PathStep,
} from './open-api.ts'

const document = {
  components: {
    schemas: {
      'com.example.v1.Till': {
        type: 'object',
        required: ['spec'],
        properties: {
          apiVersion: { type: 'string' },
          spec: { allOf: [{ $ref: '#/components/schemas/com.example.v1.TillSpec' }], default: {} },
        },
        'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Till' }],
      },
      'com.example.v1.TillSpec': {
        type: 'object',
        description: 'What a till is.',
        properties: {
          open: { type: 'boolean' },
          paint: { type: 'string', enum: ['', 'red', 'blue'] },
          drawers: {
            type: 'array',
            items: { $ref: '#/components/schemas/com.example.v1.Drawer' },
          },
          prices: { type: 'object', additionalProperties: { type: 'integer' } },
        },
      },
      'com.example.v1.Drawer': { type: 'object', properties: { width: { type: 'integer' } } },
      loop: { $ref: '#/components/schemas/loop' },
    },
  },
}

test('a kind is found by its group, version and name, and its fields are described', () => {
  const till = kindSchema(document, 'example.com/v1', 'Till')
  assert.ok(till)
  assert.equal(kindSchema(document, 'example.com/v2', 'Till'), undefined)
  assert.equal(kindSchema(document, 'v1', 'Till'), undefined)
  const lines = fieldsAt(till, []).map(({ name, type, isRequired }) => [name, type, isRequired])
  assert.deepEqual(lines, [
    ['apiVersion', 'string', false],
    ['spec', 'TillSpec', true],
  ])
  assert.equal(fieldsAt(till, [])[1]?.description, 'What a till is.')
  const types = fieldsAt(till, ['spec']).map(({ name, type, shape }) => [name, type, shape])
  assert.deepEqual(types, [
    ['drawers', '[]Drawer', 'list'],
    ['open', 'boolean', 'scalar'],
    ['paint', 'string', 'scalar'],
    ['prices', 'map[string]integer', 'object'],
  ])
})

test('a path leads through lists, maps and references, and nowhere for a field that is not there', () => {
  const till = kindSchema(document, 'example.com/v1', 'Till')
  assert.ok(till)
  assert.equal(schemaAt(till, ['spec', 'drawers', item, 'width'])?.type, 'integer')
  assert.equal(schemaAt(till, ['spec', 'prices', 'apple'])?.type, 'integer')
  const wrong: PathStep[][] = [
    ['spec', 'drawer'],
    ['spec', 'open', 'x'],
    ['constructor'],
    ['spec', item],
  ]
  for (const path of wrong) {
    assert.equal(schemaAt(till, path), undefined, String(path[1]))
  }
  assert.deepEqual(valuesAt(till, ['spec', 'paint']), ['red', 'blue'])
  assert.deepEqual(valuesAt(till, ['spec', 'open']), ['true', 'false'])
  assert.equal(valuesAt(till, ['spec', 'drawers']), undefined)
})

test('a schema that refers to itself has no fields, and ends', () => {
  const root = document.components.schemas.loop
  assert.deepEqual(fieldsAt({ document, root }, []), [])
})

test('a document comes from the path that the server names, but only from one of its own documents', () => {
  const paths = (serverRelativeURL: string) => ({
    paths: { 'api/v1': { serverRelativeURL }, 'apis/apps/v1': { serverRelativeURL } },
  })
  const good = '/openapi/v3/api/v1?hash=ABC'
  assert.equal(documentPath(paths(good), 'v1'), good)
  assert.equal(documentPath(paths(good), 'apps/v1'), good)
  assert.equal(documentPath(paths(good), 'apps/v2'), undefined)
  assert.equal(documentPath({}, 'v1'), undefined)
  for (const bad of [
    '/hub/v1/session',
    'https://example.com/openapi/v3/api/v1',
    '/openapi/v3/../../../hub/v1/session',
    '/openapi/v3/%2e%2e/%2E%2E/hub',
    '/openapi/v3/..\\..\\hub',
  ]) {
    assert.equal(documentPath(paths(bad), 'v1'), undefined, bad)
  }
})
