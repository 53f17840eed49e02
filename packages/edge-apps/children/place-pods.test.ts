import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeSelectorTerm, PodSpec } from '@skerry/api'
import { placePods } from './place-pods.ts'

function place(spec: Partial<PodSpec>) {
  return placePods({ spec: { containers: [{ name: 'c' }], ...spec } }, { hall: 'a' })
}

function affinity(nodeSelectorTerms: NodeSelectorTerm[]): Partial<PodSpec> {
  return {
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
    },
  }
}

test('a group’s labels join the template’s node selector, and init containers stay', () => {
  const { template } = place({ nodeSelector: { disk: 'ssd' }, initContainers: [{ name: 'i' }] })
  assert.deepEqual(template?.spec?.nodeSelector, { disk: 'ssd', hall: 'a' })
  assert.deepEqual(template?.spec?.initContainers, [{ name: 'i' }])
})

test('a template that can run on no node of the group is a contradiction', () => {
  const selector = place({ nodeSelector: { hall: 'b' } })
  assert.equal(
    selector.contradiction,
    'nodeSelector of the template asks for hall=b, the group for hall=a',
  )
  const excluding = [{ matchExpressions: [{ key: 'hall', operator: 'NotIn', values: ['a'] }] }]
  assert.equal(
    place(affinity(excluding)).contradiction,
    'nodeAffinity of the template excludes all nodes with hall=a',
  )
  const other = { matchExpressions: [{ key: 'disk', operator: 'Exists' }] }
  assert.equal(place(affinity([...excluding, other])).contradiction, undefined)
})
