import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOwnNamespace, isPropagatable } from './reserved-objects.ts'

test('objects that every cluster has of its own are never sent there, whatever a policy selects', () => {
  const table: readonly [string, string, string, string, boolean][] = [
    ['v1', 'ConfigMap', 'shop', 'settings', true],
    ['v1', 'ConfigMap', 'shop', 'kube-root-ca.crt', false],
    ['v1', 'ServiceAccount', 'shop', 'default', false],
    ['v1', 'ServiceAccount', 'shop', 'till', true],
    ['v1', 'Service', 'default', 'kubernetes', false],
    ['v1', 'Service', 'shop', 'kubernetes', true],
    ['v1', 'Secret', 'kube-system', 'token', false],
    ['v1', 'Secret', 'karmada-es-reef', 'any', false],
    ['v1', 'Secret', 'karmada-shop', 'any', true],
    ['v1', 'Secret', 'skerry-agent', 'skerry-agent-identity', false],
    ['v1', 'Secret', 'skerry-users', 'any', false],
    ['v1', 'Event', 'shop', 'any', false],
    ['events.k8s.io/v1', 'Event', 'shop', 'any', false],
    ['coordination.k8s.io/v1', 'Lease', 'shop', 'any', false],
    ['policy.karmada.io/v1alpha1', 'OverridePolicy', 'shop', 'any', false],
    ['work.karmada.io/v1alpha2', 'ResourceBinding', 'shop', 'any', false],
    ['hub.skerry.io/v1alpha1', 'ClusterAccess', '', 'any', false],
    ['policy/v1', 'PodDisruptionBudget', 'shop', 'any', true],
    ['apps.example.com/v1', 'Valve', 'shop', 'any', true],
    ['rbac.authorization.k8s.io/v1', 'ClusterRole', '', 'default', true],
  ]
  for (const [apiVersion, kind, namespace, name, expected] of table) {
    assert.equal(
      isPropagatable({ apiVersion, kind, namespace, name }),
      expected,
      `${apiVersion} ${kind} ${namespace}/${name}`,
    )
  }
  assert.deepEqual(['default', 'kube-public', 'shop'].map(isOwnNamespace), [false, false, true])
})
