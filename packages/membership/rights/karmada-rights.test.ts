import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger, systemClock } from '@skerry/base'
import { createCluster, resources, type ResourceRef } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { agentUserName, agentsGroup, objectsAt } from '@skerry/fleet-kinds'
import { deleteKarmadaRights, karmadaRights, writeKarmadaRights } from './karmada-rights.ts'

test('an agent at Karmada may touch its own cluster’s objects, no secret and no other cluster', () => {
  const objects = karmadaRights('shop-7')
  const namesOf = objects.map(({ kind, metadata }) =>
    [kind, metadata.namespace, metadata.name].filter(Boolean).join(' '),
  )
  // These are the names that karmadactl unregister looks for.
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

test('an agent that leaves takes its own rights away: all hang on one binding, and it may delete no other', async () => {
  await using server = await startTestApiServer({
    withAccess: true,
    namespaces: ['default', 'kube-system', 'karmada-cluster'],
  })
  const signal = AbortSignal.timeout(60_000)
  const deps = { clock: systemClock, log: silentLogger, userAgent: 'test' }
  const admin = createCluster(server.transport, deps)
  for (const name of ['shop', 'mine']) await writeKarmadaRights(admin, name, signal)
  // A second registration corrects the existing objects.
  await writeKarmadaRights(admin, 'shop', signal)
  const user = { name: agentUserName('shop'), groups: [agentsGroup], extra: {} }
  const agent = createCluster(server.transportAs(user), deps)
  const owners = async (resource: ResourceRef): Promise<(string | undefined)[]> => {
    const { items } = await admin.resource(resource).list({}, signal)
    return items
      .filter(({ metadata }) => metadata.name?.startsWith('system:karmada:shop:'))
      .map(({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid).join())
  }
  const key = { name: 'system:karmada:shop:agent' }
  const { metadata } = await admin.resource(resources.clusterRoleBindings).get(key, signal)
  const { uid } = metadata
  assert.deepEqual(await owners(resources.clusterRoles), [uid])
  assert.deepEqual(await owners(resources.roles), [uid, uid])
  assert.deepEqual(await owners(resources.roleBindings), [uid, uid])
  assert.equal(await deleteKarmadaRights(agent, 'mine', signal), false)
  assert.equal(await deleteKarmadaRights(agent, 'shop', signal), true)
  const left = await admin.resource(resources.clusterRoleBindings).list({}, signal)
  const names = left.items.map((each) => each.metadata.name ?? '')
  assert.deepEqual(
    names.filter((name) => name.startsWith('system:karmada:')),
    ['system:karmada:mine:agent'],
  )
})
