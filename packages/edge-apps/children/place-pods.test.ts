import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeSelectorTerm, PodSpec } from '@skerry/api'
import { placePods } from './place-pods.ts'

type Place = Parameters<typeof placePods>[1]

function place(spec: Partial<PodSpec>, group: Place = { nodeSelector: { hall: 'a' } }) {
  return placePods({ spec: { containers: [{ name: 'c' }], ...spec } }, group)
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

test('requirements of a group join each alternative of the template’s affinity', () => {
  const hall = { key: 'hall', operator: 'In', values: ['a'] }
  const group: Place = { nodeSelector: {}, requirements: [hall] }
  const ssd = { key: 'disk', operator: 'In', values: ['ssd'] }
  const gpu = { key: 'gpu', operator: 'Exists' }
  const both = affinity([{ matchExpressions: [ssd] }, { matchExpressions: [gpu] }])
  assert.deepEqual(
    place(both, group).template?.spec?.affinity,
    affinity([{ matchExpressions: [ssd, hall] }, { matchExpressions: [gpu, hall] }]).affinity,
  )
  assert.deepEqual(
    place({}, group).template?.spec?.affinity,
    affinity([{ matchExpressions: [hall] }]).affinity,
  )
  assert.equal(
    place({ nodeSelector: { hall: 'b' } }, group).contradiction,
    'nodeSelector of the template asks for hall=b, which the group excludes',
  )
})
