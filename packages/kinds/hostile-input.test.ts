import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  StatusError,
  cloneJson,
  isJsonObject,
  parseLabelSelector,
  type AnyObject,
  type JsonObject,
  type SchemaSet,
} from '@skerry/api'
import {
  checkFields,
  applyJsonPatch,
  applyMergePatch,
  applyServerSide,
  applyStrategicMergePatch,
  decodeBody,
  trackUpdate,
} from '@skerry/bodies'
import { loadExpressions } from './expressions/expressions.ts'
import { schemaFromCrd } from './schema/crd-schema.ts'
import { checkCustomMetadata } from './structural/custom-metadata.ts'
import { defaultStructural, pruneStructural } from './structural/prune.ts'
import { checkStructural } from './structural/structural-check.ts'
import { validateStructural } from './structural/validate.ts'

await loadExpressions()
import schemas from './generated/schema.json' with { type: 'json' }

// The generated file has the shape of a SchemaSet; the compiler only widens its literals.
const builtIn = schemas as unknown as SchemaSet
const schemaName = 'io.k8s.api.core.v1.Pod'

const names = fc.constantFrom(
  'metadata',
  'name',
  'labels',
  'finalizers',
  'ownerReferences',
  'managedFields',
  'fieldsV1',
  'spec',
  'containers',
  'ports',
  'containerPort',
  'env',
  'volumes',
  'resources',
  'limits',
  'status',
  '$patch',
  '$retainKeys',
  '$setElementOrder/containers',
  '$deleteFromPrimitiveList/finalizers',
  '__proto__',
  'constructor',
  'f:a',
  'k:{"name":"a"}',
  '.',
)
const scalars = fc.constantFrom(null, true, 0, 1.5, '', 'a', 'delete', 'replace', '1Gi', 'f:x')

const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', maxDepth: 6 },
    scalars,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 5 }),
  ),
}))
const anyObject = fc.dictionary(names, anyValue, { maxKeys: 6 }).map((object) => cloneJson(object))

function asPod(object: JsonObject): AnyObject {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {}
  return { ...object, apiVersion: 'v1', kind: 'Pod', metadata }
}

/** Any input gets an answer: a result or a StatusError, never a crash. */
function answers(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof StatusError)) assert.fail(error instanceof Error ? error : String(error))
  }
}

test('patches of any shape are applied or refused', () => {
  fc.assert(
    fc.property(anyObject, anyValue, (object, patch) => {
      answers(() => applyStrategicMergePatch(object, patch, { schemas: builtIn, schemaName }))
      answers(() => applyMergePatch(object, patch))
      answers(() => applyJsonPatch(object, patch))
    }),
  )
})

test('objects of any shape are decoded, tracked and applied, or refused', () => {
  const options = { schemas: builtIn, schemaName, manager: 'm', apiVersion: 'v1', nowMs: 0 }
  fc.assert(
    fc.property(anyObject, anyObject, (first, second) => {
      answers(() => checkFields({ object: cloneJson(first), schemas: builtIn, schemaName }))
      const live = asPod(cloneJson(first))
      answers(() => {
        checkFields({ object: live, schemas: builtIn, schemaName })
        answers(() => applyServerSide({ ...options, live, applied: asPod(second), isForced: true }))
        const next = asPod(cloneJson(second))
        checkFields({ object: next, schemas: builtIn, schemaName })
        trackUpdate({ ...options, live, next })
      })
    }),
    { numRuns: 300 },
  )
})

test('schemas and custom resources of any shape are answered', () => {
  const words = fc.constantFrom(
    'type',
    'properties',
    'items',
    'additionalProperties',
    'required',
    'enum',
    'default',
    'anyOf',
    'oneOf',
    'allOf',
    'not',
    'pattern',
    'format',
    'nullable',
    'x-kubernetes-list-type',
    'x-kubernetes-list-map-keys',
    'x-kubernetes-embedded-resource',
    'name',
    'spec',
    'metadata',
  )
  const values = fc.constantFrom(
    'object',
    'array',
    'string',
    'map',
    'set',
    true,
    1,
    null,
    '(',
    'spec',
  )
  const { props } = fc.letrec<{ props: unknown }>((tie) => ({
    props: fc.oneof(
      { depthSize: 'medium', maxDepth: 6 },
      values,
      fc.array(tie('props'), { maxLength: 3 }),
      fc.dictionary(words, tie('props'), { maxKeys: 5 }),
    ),
  }))
  fc.assert(
    fc.property(fc.dictionary(words, props, { maxKeys: 5 }), anyObject, (openApi, object) => {
      answers(() => checkStructural(cloneJson(openApi), 'spec'))
      const custom = schemaFromCrd(cloneJson(openApi))
      const schema = custom.schemas[custom.schemaName] ?? {}
      answers(() => {
        checkCustomMetadata(object, schema)
        pruneStructural(object, schema)
        defaultStructural(object, schema)
        validateStructural(schema, object)
      })
    }),
    { numRuns: 300 },
  )
})

test('bodies and selectors of any text are answered', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.constantFrom('application/json', 'application/yaml'),
      (text, type) => {
        answers(() => decodeBody(new TextEncoder().encode(text), type, { isStrict: true }))
        answers(() => parseLabelSelector(text))
      },
    ),
  )
})
