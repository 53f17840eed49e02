import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readResource, whoCan, type Question, type Rbac } from './who-can.ts'

const rbac: Rbac = {
  roles: [
    { metadata: { name: 'admin' }, rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] },
    {
      metadata: { name: 'reader' },
      rules: [{ verbs: ['get'], apiGroups: ['', 'apps'], resources: ['pods', 'deployments'] }],
    },
    {
      metadata: { name: 'scaler', namespace: 'shop' },
      rules: [{ verbs: ['update'], apiGroups: ['apps'], resources: ['*/scale'] }],
    },
    {
      metadata: { name: 'one', namespace: 'shop' },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['till'] }],
    },
    { metadata: { name: 'empty' }, rules: null },
  ],
  bindings: [
    binding('admins', ['ClusterRole', 'admin'], 'ops'),
    binding('empties', ['ClusterRole', 'empty'], 'nobody'),
    binding('gone', ['ClusterRole', 'removed'], 'nobody'),
    binding('readers', ['ClusterRole', 'reader'], 'anna', 'shop'),
    binding('scalers', ['Role', 'scaler'], 'ben', 'shop'),
    binding('ones', ['Role', 'one'], 'cleo', 'shop'),
    // A role of that name is in another namespace.
    binding('strays', ['Role', 'scaler'], 'dora', 'bank'),
  ],
}

function binding(
  name: string,
  role: readonly [kind: string, name: string],
  user: string,
  namespace?: string,
) {
  const [kind, roleName] = role
  return {
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { kind, name: roleName },
    subjects: [{ kind: 'User', name: user }],
  }
}

function ask(verb: string, resource: string, namespace = '', name = ''): string[] {
  const question: Question = { verb, namespace, name, ...readResource(resource) }
  return whoCan(rbac, question).map(({ subject }) => subject.name)
}

test('everybody is found whom a binding of the cluster or of the namespace allows it', () => {
  assert.deepEqual(ask('get', 'pods', 'shop'), ['anna', 'ops'])
  assert.deepEqual(ask('get', 'pods'), ['ops'], 'a binding of a namespace does not count elsewhere')
  assert.deepEqual(ask('get', 'pods', 'bank'), ['ops'])
  assert.deepEqual(ask('get', 'deployments.apps', 'shop'), ['anna', 'ops'])
  assert.deepEqual(ask('get', 'pods.batch', 'shop'), ['ops'], 'a group is part of the name')
})

test('subresources and single names are rights of their own', () => {
  assert.deepEqual(ask('update', 'deployments.apps/scale', 'shop'), ['ben', 'ops'])
  assert.deepEqual(ask('update', 'deployments.apps', 'shop'), ['ops'])
  assert.deepEqual(ask('get', 'pods/exec', 'shop'), ['ops'])
  assert.deepEqual(ask('update', 'deployments.apps/scale', 'bank'), ['ops'])
  assert.deepEqual(ask('get', 'pods', 'shop', 'till'), ['anna', 'cleo', 'ops'])
})
