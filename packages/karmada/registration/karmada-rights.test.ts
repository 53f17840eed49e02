import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectsAt } from '../interpreter/fields.ts'
import { karmadaRights } from './karmada-rights.ts'

test('an agent at Karmada may touch its own cluster’s objects, no secret and no other cluster', () => {
  const objects = karmadaRights('shop-7')
  const namesOf = objects.map(({ kind, metadata }) =>
    [kind, metadata.namespace, metadata.name].filter(Boolean).join(' '),
  )
  // As karmadactl unregister looks for them.
  assert.deepEqual(namesOf, [
    'Namespace karmada-es-shop-7',
    'ClusterRole system:karmada:shop-7:agent',
    'ClusterRoleBinding system:karmada:shop-7:agent',
    'Role karmada-cluster system:karmada:shop-7:agent-secret',
    'RoleBinding karmada-cluster system:karmada:shop-7:agent-secret',
    'Role karmada-es-shop-7 system:karmada:shop-7:agent-work',
    'RoleBinding karmada-es-shop-7 system:karmada:shop-7:agent-work',
  ])
  const rules = objects.flatMap((each) => objectsAt(each, 'rules'))
  const text = JSON.stringify(rules)
  assert.doesNotMatch(text, /"secrets"|"\*"|escalate|impersonate/)
  const clusters = rules.filter(({ resources }) => String(resources).startsWith('clusters'))
  const open = clusters.filter(({ resourceNames }) => String(resourceNames) !== 'shop-7')
  assert.deepEqual(
    open.map(({ verbs }) => verbs),
    [['create']],
  )
  for (const subject of objects.flatMap((each) => objectsAt(each, 'subjects'))) {
    assert.equal(subject['name'], 'system:karmada:agent:shop-7')
  }
})
