import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AnyObject } from '@skerry/api'
import type { Cluster } from '@skerry/fleet-kinds'
import type { OverridePolicy, Overriders } from '@skerry/karmada-kinds'
import { OverrideError, applyOverrides } from './apply-overrides.ts'
import { overrideObject } from './override-object.ts'

const cluster: Cluster = {
  apiVersion: 'cluster.karmada.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'north' },
  spec: { syncMode: 'Pull' },
}

function policy(overriders: Overriders): OverridePolicy {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'OverridePolicy',
    metadata: { name: 'p', namespace: 'shop' },
    spec: { overrideRules: [{ overriders }] },
  }
}

function config(data: Record<string, string>): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'till', namespace: 'shop' },
    data,
  }
}

function withField(text: string, language: 'json' | 'yaml'): unknown {
  const operation = { subPath: '/a', operator: 'add', value: 1 } as const
  const overriders = { fieldOverrider: [{ fieldPath: '/data/x', [language]: [operation] }] }
  const { object } = applyOverrides(config({ x: text }), {
    cluster,
    policies: [policy(overriders)],
  })
  return (object['data'] as Record<string, unknown> | undefined)?.['x']
}

test('numbers that no override names are written as they were, or not at all', () => {
  const json = '{"id":12345678901234567890,"f":1.0,"e":1e3,"z":-0}'
  assert.equal(withField(json, 'json'), '{"id":12345678901234567890,"f":1.0,"e":1e3,"z":-0,"a":1}')
  assert.equal(withField('yes: 1.50\nb: "yes"\n', 'yaml'), 'a: 1\nb: "yes"\n"true": 1.5\n')
  assert.throws(() => withField('id: 12345678901234567890\n', 'yaml'), {
    name: 'OverrideError',
    message: 'cannot write the document again: 12345678901234567000 has more than 53 bits',
  })
})

test("an override that removes an object's kind, apiVersion or metadata is refused", () => {
  for (const path of ['/kind', '/apiVersion', '/metadata']) {
    const overriders: Overriders = { plaintext: [{ path, operator: 'remove' }] }
    assert.throws(
      () => applyOverrides(config({}), { cluster, policies: [policy(overriders)] }),
      OverrideError,
    )
  }
})

test('a policy of the namespace sees the labels that one of all namespaces has set', () => {
  const label = { labelsOverrider: [{ operator: 'add' as const, value: { tier: 'edge' } }] }
  const everywhere: OverridePolicy = {
    ...policy(label),
    kind: 'ClusterOverridePolicy',
    metadata: { name: 'tiers' },
  }
  const ofEdge = policy({ plaintext: [{ path: '/data/x', operator: 'add', value: 'y' }] })
  const labelSelector = { matchLabels: { tier: 'edge' } }
  const resourceSelectors = [{ apiVersion: 'v1', kind: 'ConfigMap', labelSelector }]
  const own = { ...ofEdge, spec: { ...ofEdge.spec, resourceSelectors } }
  const both = overrideObject(config({}), { cluster, policies: [own, everywhere] })
  assert.deepEqual(both.object['data'], { x: 'y' })
  assert.deepEqual(
    both.applied.map((each) => each.policy),
    ['tiers', 'p'],
  )
  const alone = overrideObject(config({}), { cluster, policies: [own] })
  assert.deepEqual(alone.applied, [])
})

const text = fc.constantFrom(
  '',
  '/',
  '/a',
  '/spec',
  '/spec/containers/0/image',
  '/data/x',
  '~',
  '1',
)
const operator = fc.constantFrom('add' as const, 'remove' as const, 'replace' as const)
const overriders: fc.Arbitrary<Overriders> = fc.record(
  {
    plaintext: fc.array(fc.record({ path: text, operator, value: fc.jsonValue() })),
    imageOverrider: fc.array(
      fc.record({
        component: fc.constantFrom('Registry' as const, 'Repository' as const, 'Tag' as const),
        operator,
        value: fc.string(),
        predicate: fc.record({ path: text }),
      }),
    ),
    labelsOverrider: fc.array(
      fc.record({ operator, value: fc.dictionary(fc.string(), fc.string()) }),
    ),
    fieldOverrider: fc.array(
      fc.record({
        fieldPath: text,
        yaml: fc.array(fc.record({ subPath: text, operator, value: fc.jsonValue() })),
      }),
    ),
  },
  { requiredKeys: [] },
)

test('any policy changes a copy of any object, or is refused with words', () => {
  const object = fc.record({
    apiVersion: fc.constant('v1'),
    kind: fc.constantFrom('Pod', 'ConfigMap'),
    metadata: fc.constant({ name: 'a' }),
    spec: fc.jsonValue(),
    data: fc.dictionary(fc.constantFrom('x', 'y'), fc.string()),
  })
  fc.assert(
    fc.property(object, overriders, (given, rule) => {
      const before = JSON.stringify(given)
      try {
        applyOverrides(given, { cluster, policies: [policy(rule)] })
      } catch (error) {
        assert.ok(error instanceof OverrideError, String(error))
        assert.notEqual(error.message, '')
      }
      assert.equal(JSON.stringify(given), before)
    }),
    { numRuns: 500 },
  )
})

test('whatever a policy of a namespace does, the identity of an object stays as it was', () => {
  const pointer = fc.constantFrom(
    '',
    '/',
    '/kind',
    '/apiVersion',
    '/metadata',
    '/metadata/name',
    '/metadata/namespace',
    '/metadata/labels',
    '/meta~0data',
    '/metadata~1name',
    '//metadata/name',
  )
  const value = fc.constantFrom('Secret', 'bank', { name: 'till', namespace: 'bank' }, null, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'till' },
  })
  const plaintext = fc.array(fc.record({ path: pointer, operator, value }), { maxLength: 4 })
  const predicate = fc.record({ path: pointer })
  const component = fc.constantFrom('Repository' as const, 'Tag' as const)
  const image = fc.record({ predicate, component, operator, value: fc.constant('bank') })
  const yaml = fc.array(fc.record({ subPath: pointer, operator, value }), { maxLength: 2 })
  const hostile: fc.Arbitrary<Overriders> = fc.record(
    {
      plaintext,
      imageOverrider: fc.array(image, { maxLength: 2 }),
      fieldOverrider: fc.array(fc.record({ fieldPath: pointer, yaml }), { maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  const identity = ({ apiVersion, kind, metadata: { name, namespace } }: AnyObject) => {
    return { apiVersion, kind, name, namespace }
  }
  fc.assert(
    fc.property(hostile, (rule) => {
      const given = config({})
      try {
        const { object } = applyOverrides(given, { cluster, policies: [policy(rule)] })
        assert.deepEqual(identity(object), identity(given))
      } catch (error) {
        assert.ok(error instanceof OverrideError, String(error))
      }
    }),
    { numRuns: 2_000 },
  )
})
