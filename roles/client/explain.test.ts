import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Explanation } from '@skerry/propagation'
import { explanationLines, printExplanation } from './explain.ts'

const told: Explanation = {
  object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' },
  claim: {
    policy: { kind: 'PropagationPolicy', namespace: 'shop', name: 'web' },
    why: 'it comes first among those that select the object',
    others: [
      { policy: { kind: 'ClusterPropagationPolicy', name: 'all' }, why: 'its name comes later' },
    ],
  },
  scheduled: { status: 'True', reason: 'Success', message: 'Binding has been scheduled.' },
  waves: [
    { name: 'stage=pilot', isOpen: true, well: 0, needed: 1, clusters: ['pilot'] },
    { name: 'rest', isOpen: false, well: 0, needed: 1, clusters: ['reef'] },
  ],
  clusters: [
    { name: 'other', standing: 'NotPlaced', why: ['it does not fit'], overrides: [] },
    {
      name: 'pilot',
      standing: 'Unhealthy',
      replicas: 2,
      why: ['It is applied, and not healthy.'],
      overrides: [
        { policy: 'tills', namespace: 'shop', rule: 0 },
        { policy: 'all', rule: 1 },
      ],
    },
  ],
}

test('an explanation reads from the top: the owner, the waves, and one line for each cluster', () => {
  assert.deepEqual(explanationLines(told), [
    'Object:     Deployment shop/web',
    'Policy:     PropagationPolicy shop/web: it comes first among those that select the object',
    'Not:        ClusterPropagationPolicy all: its name comes later',
    'Scheduled:  True (Success): Binding has been scheduled.',
    'Waves:',
    '  Wave          Open   Well   Needed   Clusters',
    '  stage=pilot   yes    0      1        1',
    '  rest          no     0      1        1',
    'Clusters:',
    '  Cluster   Standing    Replicas   Overrides            Why',
    '  other     NotPlaced   -          -                    it does not fit',
    '  pilot     Unhealthy   2          shop/tills#0,all#1   It is applied, and not healthy.',
  ])
})

test('an object that no policy claims has no waves, and one line says so', () => {
  const { object } = told
  const claim = { why: 'no policy selects it: it stays on the hub', others: [] }
  assert.deepEqual(explanationLines({ object, claim, waves: [], clusters: [] }), [
    'Object:     Deployment shop/web',
    'Policy:     none; no policy selects it: it stays on the hub',
  ])
})

test('an argument that is not a kind and a name is refused before any request is sent', async () => {
  for (const object of ['web', 'deployment/', '/web', 'deployment/web/more']) {
    const options = { object, namespace: 'shop', dataDir: '/none', output: undefined }
    await assert.rejects(printExplanation({ ...options, kubeconfig: undefined }), {
      name: 'ExpectedError',
      message: `Cannot explain ${object}: name one object as kind/name, e.g. deployment/web`,
    })
  }
})
