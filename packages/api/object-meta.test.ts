import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectMeta } from './object.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from './object-meta.ts'

const valid: ObjectMeta = { name: 'a', namespace: 'b' }

/** The answers of Kubernetes 1.36 for a ConfigMap. */
const refused: { meta: ObjectMeta; field: string; message: RegExp | string }[] = [
  {
    meta: { namespace: 'b' },
    field: 'metadata.name',
    message: 'Required value: name or generateName is required',
  },
  {
    meta: { name: 'A_b', namespace: 'b' },
    field: 'metadata.name',
    message:
      "Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  },
  {
    meta: { name: 'a'.repeat(254), namespace: 'b' },
    field: 'metadata.name',
    message: /no more than 253 characters$/,
  },
  { meta: { name: 'a' }, field: 'metadata.namespace', message: 'Required value' },
  {
    meta: { ...valid, namespace: 'x.y' },
    field: 'metadata.namespace',
    message: 'Invalid value: "x.y": must not contain dots',
  },
  {
    meta: { ...valid, labels: { 'a/': 'x' } },
    field: 'metadata.labels',
    message: 'Invalid value: "a/": name part must be non-empty',
  },
  {
    meta: { ...valid, labels: { a: 'b c' } },
    field: 'metadata.labels',
    message: /^Invalid value: "b c": a valid label must be/,
  },
  {
    meta: { ...valid, annotations: { 'a b': '' } },
    field: 'metadata.annotations',
    message: /^Invalid value: "a b": name part must consist/,
  },
  {
    meta: { ...valid, annotations: { a: 'x'.repeat(262_144) } },
    field: 'metadata.annotations',
    message: 'Too long: may not be more than 262144 bytes',
  },
  {
    meta: { ...valid, ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '' }] },
    field: 'metadata.ownerReferences.uid',
    message: 'Invalid value: "": must not be empty',
  },
  {
    meta: { ...valid, finalizers: ['orphan', 'foregroundDeletion'] },
    field: 'metadata.finalizers',
    message:
      'Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
  },
  {
    meta: { ...valid, managedFields: [{ operation: 'Apply', fieldsType: 'FieldsV2' }] },
    field: 'metadata.managedFields[0].fieldsType',
    message: 'Invalid value: "FieldsV2": must be `FieldsV1`',
  },
]

test("bad metadata is refused in upstream's words", () => {
  for (const { meta, field, message } of refused) {
    const causes = validateObjectMeta(meta, 'dns-subdomain', true)
    const found = causes.find((cause) => cause.field === field)
    assert.ok(found, `${field}: ${JSON.stringify(causes).slice(0, 300)}`)
    if (typeof message === 'string') assert.equal(found.message, message)
    else assert.match(found.message ?? '', message)
  }
})

test('good metadata passes, also with a prefix that ends in a dash', () => {
  const meta: ObjectMeta = {
    ...valid,
    generateName: 'a-',
    labels: { 'example.com/x': 'y', empty: '' },
    annotations: { 'Example.com/X': 'any text\n' },
  }
  assert.deepEqual(validateObjectMeta(meta, 'dns-label', true), [])
  assert.deepEqual(validateObjectMeta({ name: 'a:b' }, 'path-segment', false), [])
})

test('an update may not change identity nor add finalizers while the object is deleted', () => {
  const old: ObjectMeta = {
    name: 'a',
    uid: '1',
    resourceVersion: '5',
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['x/y'],
  }
  assert.deepEqual(validateObjectMetaUpdate({ ...old, labels: { a: 'b' } }, old), [])
  const causes = validateObjectMetaUpdate({ ...old, uid: '2', finalizers: ['x/y', 'x/z'] }, old)
  assert.deepEqual(
    causes.map((cause) => `${cause.field}: ${cause.message}`),
    [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/z"}',
      'metadata.uid: Invalid value: "2": field is immutable',
    ],
  )
})
