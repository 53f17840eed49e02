import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aggregatedRules, type ClusterRole, type ClusterRoleBinding } from '@skerry/api'
import { ObjectTable } from '../testing/object-table.ts'
import { getTyped, typed } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { ensureBootstrapObjects, nodeRules } from './bootstrap-objects.ts'

const role = (objects: ObjectTable, name: string) => {
  const found = getTyped<ClusterRole>(objects, wellKnown.clusterRoles, { name })
  assert.ok(found, `cluster role ${name}`)
  return found
}

test('a fresh server gets the namespaces, roles and bindings that clients expect', async () => {
  const objects = new ObjectTable()
  await ensureBootstrapObjects(objects)
  for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
    assert.ok(objects.get(wellKnown.namespaces, '', name), name)
  }
  assert.deepEqual(role(objects, 'cluster-admin').rules?.[0]?.verbs, ['*'])
  assert.ok(objects.get(wellKnown.priorityClasses, '', 'system-node-critical'))
  assert.ok(nodeRules().length > 5)
})

test('admin, edit and view are filled at once, each with all rights of the smaller one', async () => {
  const objects = new ObjectTable()
  await ensureBootstrapObjects(objects)
  const sizes = ['view', 'edit', 'admin'].map((name) => role(objects, name).rules?.length ?? 0)
  assert.ok(
    sizes.every((size, index) => size > (sizes[index - 1] ?? 0)),
    String(sizes),
  )
})

test('a second start adds lost rules and subjects, keeps added ones, and writes nothing else', async () => {
  const objects = new ObjectTable()
  await ensureBootstrapObjects(objects)
  const settled = objects.version(wellKnown.clusterRoles)
  await ensureBootstrapObjects(objects)
  assert.equal(objects.version(wellKnown.clusterRoles), settled)

  const lost = role(objects, 'system:kube-scheduler').rules?.[0]
  const own = { apiGroups: ['example.com'], resources: ['things'], verbs: ['get'] }
  await objects.update(
    wellKnown.clusterRoles,
    { namespace: '', name: 'system:kube-scheduler' },
    (o) => {
      typed<ClusterRole>(o).rules = [own]
    },
  )
  await objects.update(
    wellKnown.clusterRoleBindings,
    { namespace: '', name: 'cluster-admin' },
    (o) => {
      typed<ClusterRoleBinding>(o).subjects = []
    },
  )
  await objects.update(wellKnown.clusterRoles, { namespace: '', name: 'system:node' }, (o) => {
    o.metadata.annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' }
    typed<ClusterRole>(o).rules = []
  })
  await ensureBootstrapObjects(objects)
  const rules = role(objects, 'system:kube-scheduler').rules ?? []
  assert.deepEqual(rules[0], own)
  assert.ok(rules.some((rule) => rule.verbs[0] === lost?.verbs[0]))
  const binding = getTyped<ClusterRoleBinding>(objects, wellKnown.clusterRoleBindings, {
    name: 'cluster-admin',
  })
  assert.equal(binding?.subjects?.[0]?.name, 'system:masters')
  assert.deepEqual(role(objects, 'system:node').rules, [])
})

test('an aggregated role is the union of the roles that its labels select, never of itself', () => {
  const rule = (name: string) => ({ apiGroups: [''], resources: [name], verbs: ['get'] })
  const make = (
    name: string,
    labels: Record<string, string>,
    rules: ReturnType<typeof rule>[],
  ) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules,
  })
  const sum: ClusterRole = {
    ...make('sum', { pick: 'yes' }, [rule('old')]),
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { pick: 'yes' } }] },
  }
  const all = [
    sum,
    make('b', { pick: 'yes' }, [rule('pods'), rule('nodes')]),
    make('a', { pick: 'yes' }, [rule('pods')]),
    make('c', { pick: 'no' }, [rule('secrets')]),
  ]
  assert.deepEqual(aggregatedRules(sum, all), [rule('pods'), rule('nodes')])
})
