import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyForm, namedPolicy, policyOf } from './policy-form.ts'

test('a form with only a name is a policy for all clusters', () => {
  assert.deepEqual(policyOf({ ...emptyForm, name: 'web' }), {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }],
      placement: {},
    },
  })
})

test('every field of the form restricts the policy', () => {
  const form = {
    ...emptyForm,
    name: 'web',
    namespace: '',
    kinds: 'apps/v1/Deployment, v1/ConfigMap',
    objectName: 'web',
    objectLabels: 'app=web, tier',
    clusterNames: 'reef pilot',
    clusterLabels: 'stage=edge',
    exclude: 'far',
    division: 'Aggregated',
    waves: ' 10% ',
    percent: '90',
  } as const
  const matching = { name: 'web', labelSelector: { matchLabels: { app: 'web', tier: '' } } }
  assert.deepEqual(policyOf(form), {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'ClusterPropagationPolicy',
    metadata: {
      name: 'web',
      annotations: { 'hub.skerry.io/waves': '10%', 'hub.skerry.io/wave-healthy-percent': '90' },
    },
    spec: {
      resourceSelectors: [
        { apiVersion: 'apps/v1', kind: 'Deployment', ...matching },
        { apiVersion: 'v1', kind: 'ConfigMap', ...matching },
      ],
      placement: {
        clusterAffinity: {
          clusterNames: ['reef', 'pilot'],
          exclude: ['far'],
          labelSelector: { matchLabels: { stage: 'edge' } },
        },
        replicaScheduling: {
          replicaSchedulingType: 'Divided',
          replicaDivisionPreference: 'Aggregated',
        },
      },
    },
  })
  assert.deepEqual(namedPolicy(form), { kind: 'ClusterPropagationPolicy', name: 'web' })
})
