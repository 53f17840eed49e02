import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  StatusError,
  cloneJson,
  isStatusError,
  type JsonObject,
  type StatusCause,
} from '@skerry/api'
import { schemaFromCrd } from '../schema/crd-schema.ts'
import { checkCustomMetadata } from './custom-metadata.ts'
import { checkPattern, matchesPattern } from './patterns.ts'
import { defaultStructural, pruneStructural } from './prune.ts'
import { checkStructural } from './structural-check.ts'
import schemasOfCrds from './testdata/structural.json' with { type: 'json' }
import recorded from './testdata/validation.json' with { type: 'json' }
import { validateStructural } from './validate.ts'
import { loadExpressions } from '../expressions/expressions.ts'

await loadExpressions()

interface Case {
  spec: JsonObject
  code: number
  spec_out?: JsonObject
  causes?: StatusCause[] | null
  message?: string
}

// The file has this shape; the compiler only widens its literals.
const { schema: openApi, cases } = recorded as unknown as { schema: JsonObject; cases: Case[] }
const { schemas, schemaName } = schemaFromCrd(openApi)
const schema = schemas[schemaName] ?? {}

function resource(spec: JsonObject, metadata: unknown = { name: 'v' }): JsonObject {
  return { apiVersion: 'vale.example.com/v1', kind: 'Vale', metadata, spec }
}

function admit(object: JsonObject): StatusCause[] {
  checkCustomMetadata(object, schema)
  pruneStructural(object, schema)
  defaultStructural(object, schema)
  return validateStructural(schema, object)
}

const byText = (causes: readonly StatusCause[]): string[] =>
  causes.map(({ field, message, reason }) => `${field}: ${message} (${reason})`).toSorted()

/** Each case is the answer of Kubernetes 1.36 to a create under the same CRD. */
test('custom resources are pruned, defaulted and validated as upstream does', () => {
  for (const item of cases) {
    const label = JSON.stringify(item.spec)
    const object = resource(cloneJson(item.spec))
    if (item.code === 400) {
      assert.throws(
        () => admit(object),
        (error) => error instanceof StatusError && error.message === item.message,
        label,
      )
      continue
    }
    assert.deepEqual(byText(admit(object)), byText(item.causes ?? []), label)
    if (item.spec_out) assert.deepEqual(object['spec'], item.spec_out, label)
  }
})

test("a schema that is not structural is refused in upstream's words", () => {
  const path = 'spec.validation.openAPIV3Schema'
  for (const { schema: props, causes } of schemasOfCrds) {
    const found = checkStructural(props, path).map(
      ({ field, message }) => `${field}: ${message?.split("isn't: ")[0]}`,
    )
    const want = causes.map(({ field, message }) =>
      `${field}: ${message}`.replace('spec.versions[0].schema.openAPIV3Schema', path),
    )
    assert.deepEqual(found.toSorted(), want.toSorted(), JSON.stringify(props))
  }
})

test('fields that the schema does not know are named and removed', () => {
  const object = {
    ...resource({ foo: 1, obj: { x: '1', unk: 1 }, lm: [{ k: 'a', u: 1 }] }),
    top: 1,
  }
  assert.deepEqual(pruneStructural(object, schema), [
    'unknown field "spec.foo"',
    'unknown field "spec.lm[0].u"',
    'unknown field "spec.obj.unk"',
    'unknown field "top"',
  ])
  assert.deepEqual(object, resource({ obj: { x: '1' }, lm: [{ k: 'a' }] }))
})

test('metadata is typed whatever the schema says', () => {
  assert.deepEqual(checkCustomMetadata(resource({}, { name: 'v', foo: 1 }), schema).own, [
    'unknown field "metadata.foo"',
  ])
  const cases: [unknown, string][] = [
    [
      { labels: { a: 5 } },
      'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    ],
    [
      { finalizers: 'x' },
      'json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string',
    ],
    [
      { creationTimestamp: 'x' },
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
  ]
  for (const [metadata, detail] of cases) {
    assert.throws(
      () => checkCustomMetadata(resource({}, metadata), schema),
      (error) =>
        isStatusError(error, 'BadRequest') &&
        error.message === `Vale in version "v1" cannot be handled as a Vale: ${detail}`,
    )
  }
})

test("patterns are read in Go's syntax", () => {
  const cases: [string, string, boolean][] = [
    ['^[a-z]+$', 'ab', true],
    ['(?i)^ab$', 'AB', true],
    ['\\A[[:alpha:]]+\\z', 'xyz', true],
    ['\\A[[:alpha:]]+\\z', 'x1', false],
    ['^(?P<year>\\d{4})\\-x$', '2026-x', true],
  ]
  for (const [pattern, text, want] of cases)
    assert.equal(matchesPattern(pattern, text), want, pattern)
  assert.notEqual(checkPattern('('), undefined)
})

test('pruning and defaulting twice changes nothing more', () => {
  const anySpec = fc.dictionary(
    fc.constantFrom('str', 'int', 'obj', 'map', 'lm', 'pres', 'def', 'nul', 'foo'),
    fc.jsonValue({ maxDepth: 3 }),
  )
  fc.assert(
    fc.property(anySpec, (spec) => {
      const object = resource(cloneJson<JsonObject>(spec))
      pruneStructural(object, schema)
      defaultStructural(object, schema)
      const once = JSON.stringify(object)
      assert.deepEqual(pruneStructural(object, schema), [])
      defaultStructural(object, schema)
      assert.equal(JSON.stringify(object), once)
    }),
  )
})
