import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  kubectlPatch,
  suspendedClusters,
  suspendOnPatch,
  suspendPatch,
  wavesForm,
  wavesPatch,
  type Policy,
} from './suspension.ts'

const web = { kind: 'PropagationPolicy', namespace: 'shop', name: 'web' }
const policy: Policy = {
  metadata: {
    name: 'web',
    namespace: 'shop',
    resourceVersion: '7',
    annotations: { 'hub.skerry.io/waves': 'stage=pilot; 10%' },
  },
  spec: { suspension: { dispatchingOnClusters: { clusterNames: ['reef'] } } },
}

test('resuming removes the field that suspending has set', () => {
  assert.deepEqual(suspendPatch(true), { spec: { suspension: { dispatching: true } } })
  assert.deepEqual(suspendPatch(false), { spec: { suspension: { dispatching: null } } })
})

test('a cluster joins and leaves the list of suspended ones, at the revision that was seen', () => {
  assert.deepEqual(suspendedClusters(policy), ['reef'])
  assert.deepEqual(suspendOnPatch(policy, 'pilot', true), {
    metadata: { resourceVersion: '7' },
    spec: { suspension: { dispatchingOnClusters: { clusterNames: ['reef', 'pilot'] } } },
  })
  assert.deepEqual(suspendOnPatch(policy, 'reef', false).spec, {
    suspension: { dispatchingOnClusters: null },
  })
})

test('an emptied field of the waves removes its annotation', () => {
  assert.deepEqual(wavesForm(policy), { waves: 'stage=pilot; 10%', percent: '' })
  assert.deepEqual(wavesPatch({ waves: ' 50% ', percent: '' }).metadata?.annotations, {
    'hub.skerry.io/waves': '50%',
    'hub.skerry.io/wave-healthy-percent': null,
  })
})

test('the line for a shell makes the same change, and quotes in it end no argument', () => {
  assert.equal(
    kubectlPatch(web, suspendPatch(true)),
    `kubectl --context hub -n shop patch propagationpolicy web --type merge -p '{"spec":{"suspension":{"dispatching":true}}}'`,
  )
  const line = kubectlPatch(
    { kind: 'ClusterPropagationPolicy', name: 'all' },
    wavesPatch({ waves: "it's", percent: '' }),
  )
  assert.ok(
    line.startsWith('kubectl --context hub patch clusterpropagationpolicy all --type merge'),
  )
  assert.ok(line.includes(String.raw`"it'\''s"`))
  assert.ok(!kubectlPatch(web, suspendOnPatch(policy, 'reef', false)).includes('resourceVersion'))
})
