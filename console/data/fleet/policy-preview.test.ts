import assert from 'node:assert/strict'
import { test } from 'node:test'
import { previewPath, refusals } from './policy-preview.ts'

test('a preview is asked for by the name of the policy, with replicas to divide if there are any', () => {
  const web = { kind: 'PropagationPolicy', namespace: 'shop', name: 'web' }
  assert.equal(
    previewPath(web, '6'),
    '/hub/v1/policy-preview?kind=PropagationPolicy&name=web&namespace=shop&replicas=6',
  )
  assert.equal(
    previewPath({ kind: 'ClusterPropagationPolicy', name: 'all' }, ''),
    '/hub/v1/policy-preview?kind=ClusterPropagationPolicy&name=all',
  )
})

test('clusters that are refused for one reason stand together, the most frequent reason first', () => {
  const refused = [
    { cluster: 'a', reasons: ['taint'] },
    { cluster: 'b', reasons: ['affinity', 'taint'] },
    { cluster: 'c', reasons: ['affinity'] },
  ]
  assert.deepEqual(refusals(refused), [
    ['affinity', ['b', 'c']],
    ['taint', ['a']],
  ])
})
