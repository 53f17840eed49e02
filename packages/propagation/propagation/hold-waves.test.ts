import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waveKeys, wavesOf, type ResourceBinding, type Work } from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'
import { openWorks, type Rollout } from './hold-waves.ts'

const resource = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'settings' }
const template = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } }
const binding: ResourceBinding = {
  apiVersion: 'work.karmada.io/v1alpha2',
  kind: 'ResourceBinding',
  metadata: { namespace: 'shop', name: 'settings-configmap' },
  spec: { resource },
}
const waves = wavesOf({
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { name: 'settings', annotations: { [waveKeys.waves]: 'stage=pilot' } },
})

function cluster(name: string, ready: 'True' | 'False', labels = {}): Cluster {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const condition = {
    type: 'Ready',
    status: ready,
    reason: 'Test',
    message: '',
    lastTransitionTime,
  }
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, labels },
    spec: { syncMode: 'Pull' },
    status: { conditions: [condition] },
  }
}

const planned: Work = {
  apiVersion: 'work.karmada.io/v1alpha1',
  kind: 'Work',
  metadata: { namespace: 'karmada-es-reef', name: 'settings' },
  spec: {},
}

test('a cluster for which an object cannot be made holds up the waves after its own, while it is present', () => {
  const sites = [{ cluster: cluster('reef', 'True'), planned, known: undefined }]
  const opened = (rest: Pick<Rollout, 'failures'>) =>
    openWorks({ binding, template, sites, ...rest }, waves)
  const failed = (ready: 'True' | 'False') => ({
    failures: [{ cluster: cluster('pilot', ready, { stage: 'pilot' }), why: 'no such key' }],
  })
  assert.deepEqual(opened(failed('True')), [])
  assert.deepEqual(opened(failed('False')), [planned])
  assert.deepEqual(opened({ failures: [] }), [planned])
})
