import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editableYaml, readableYaml } from './editable-object.ts'

const object = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    creationTimestamp: '2026-01-01T00:00:00Z',
    generation: 3,
    managedFields: [{ manager: 'kubectl' }],
    name: 'a',
    resourceVersion: '7',
    uid: 'u-1',
  },
  spec: { status: 'kept' },
  status: { conditions: [] },
}

test('an object is read without the book of its managers', () => {
  const yaml = readableYaml(object)
  assert.doesNotMatch(yaml, /managedFields/)
  assert.match(yaml, /resourceVersion: "7"\n[\s\S]*^status:/m)
})

test('an edited text has neither status nor bookkeeping, and keeps the uid', () => {
  assert.equal(
    editableYaml(object),
    'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  uid: u-1\nspec:\n  status: kept\n',
  )
})
