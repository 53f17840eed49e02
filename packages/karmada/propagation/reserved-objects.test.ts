import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOwnNamespace, isPropagatable } from './reserved-objects.ts'

test('what a cluster has of itself is never sent there, whatever a policy selects', () => {
  const table: readonly [string, string, string, boolean][] = [
    ['ConfigMap', 'shop', 'settings', true],
    ['ConfigMap', 'shop', 'kube-root-ca.crt', false],
    ['ServiceAccount', 'shop', 'default', false],
    ['ServiceAccount', 'shop', 'till', true],
    ['Service', 'default', 'kubernetes', false],
    ['Service', 'shop', 'kubernetes', true],
    ['Secret', 'kube-system', 'token', false],
    ['Secret', 'karmada-es-reef', 'any', false],
    ['Secret', 'karmada-shop', 'any', true],
    ['ClusterRole', '', 'default', true],
  ]
  for (const [kind, namespace, name, expected] of table) {
    assert.equal(
      isPropagatable({ kind, namespace, name }),
      expected,
      `${kind} ${namespace}/${name}`,
    )
  }
  assert.deepEqual(['default', 'kube-public', 'shop'].map(isOwnNamespace), [false, false, true])
})
