import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { messageOf } from '@skerry/base'
import type { Cluster } from '@skerry/fleet-kinds'
import type { OverridePolicy } from '@skerry/karmada-kinds'
import { appliedOverrideAnnotations } from '../../../packages/propagation/overrides/applied-overrides.ts'
import { overrideObject } from '../../../packages/propagation/overrides/override-object.ts'
import { overrideCases, type OverrideCase } from './cases.ts'

/** The answers of Karmada 1.18.1: dev/hack/fleet-vectors.ts writes them. */
const answers: Readonly<Record<string, unknown>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'testdata/answers.json'), 'utf8'),
)

function answerTo({ object, cluster, policies, clusterPolicies }: OverrideCase): unknown {
  // The cases are written as these types.
  const all = [...policies, ...clusterPolicies] as unknown as OverridePolicy[]
  try {
    const overridden = overrideObject(object, {
      cluster: cluster as unknown as Cluster,
      policies: all,
    })
    const annotations = appliedOverrideAnnotations(overridden.applied)
    return { result: { annotations, object: overridden.object } }
  } catch (error) {
    return { error: messageOf(error) }
  }
}

test('objects are overridden for a cluster as Karmada does it, or refused in its words', () => {
  assert.ok(overrideCases.length >= 60)
  const ours = Object.fromEntries(overrideCases.map((each) => [each.name, answerTo(each)]))
  assert.deepEqual(ours, answers)
})

test("overriding an object's copy does not change the object", () => {
  for (const each of overrideCases) {
    const before = JSON.stringify(each.object)
    answerTo(each)
    assert.equal(JSON.stringify(each.object), before, each.name)
  }
})
