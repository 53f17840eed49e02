import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PolicyRule } from '@skerry/api'
import { ObjectTable } from '../testing/object-table.ts'
import { admissionRequest } from '../testing/admission-request.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { createEscalationCheck } from './escalation-check.ts'
import { createRbacAuthorizer } from './rbac-authorizer.ts'
import { compactRights, describeRule, missingRights } from './rule-coverage.ts'
import { createRuleResolver } from './rule-resolver.ts'

const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
const pods = (...verbs: string[]): PolicyRule => ({ apiGroups: [''], resources: ['pods'], verbs })

function checkFor(...held: PolicyRule[]) {
  const objects = new ObjectTable()
    .put(wellKnown.clusterRoles, { metadata: { name: 'held' }, rules: held })
    .put(wellKnown.clusterRoles, { metadata: { name: 'readers' }, rules: [pods('get')] })
    .put(wellKnown.clusterRoles, { metadata: { name: 'killers' }, rules: [pods('delete')] })
    .put(wellKnown.clusterRoleBindings, {
      metadata: { name: 'held' },
      roleRef: { kind: 'ClusterRole', name: 'held' },
      subjects: [{ kind: 'User', name: 'jane' }],
    })
  const rules = createRuleResolver(objects)
  const plugin = createEscalationCheck(rules, createRbacAuthorizer(rules))
  const attempt = async (resource: string, object: object, groups: string[] = []) => {
    const request = admissionRequest({
      resource: rbac(resource),
      object: { metadata: { name: 'new' }, ...object },
      user: { name: 'jane', groups, extra: {} },
    })
    if (plugin.handles(request)) await plugin.check?.causesOf(request, [])
  }
  return attempt
}
const bind = (name: string) => ({
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
  subjects: [],
})

test('a role may hold only rights that its writer holds', async () => {
  const attempt = checkFor(pods('get', 'list'))
  await attempt('clusterroles', { rules: [pods('get')] })
  await assert.rejects(attempt('clusterroles', { rules: [pods('get', 'delete')] }), {
    code: 403,
    message:
      'clusterroles.rbac.authorization.k8s.io "new" is forbidden: user "jane" (groups=[]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
  })
  await attempt('clusterroles', { rules: [pods('delete')] }, ['system:masters'])
})

test('the verb escalate lifts that, and the verb bind lifts it for one role', async () => {
  const escalate = {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['clusterroles'],
    verbs: ['escalate'],
  }
  await checkFor(escalate)('clusterroles', { rules: [pods('delete')] })
  const bindKillers = { ...escalate, verbs: ['bind'], resourceNames: ['killers'] }
  await checkFor(bindKillers)('clusterrolebindings', bind('killers'))
  await assert.rejects(checkFor(bindKillers)('clusterrolebindings', bind('readers')), { code: 403 })
})

test('a binding may give only rights that its writer holds; a missing role is named', async () => {
  const attempt = checkFor(pods('get'))
  await attempt('rolebindings', bind('readers'))
  await assert.rejects(attempt('rolebindings', bind('killers')), { code: 403 })
  await assert.rejects(attempt('clusterrolebindings', bind('gone')), { code: 404 })
})

test('only a user who may do everything may set an aggregation rule', async () => {
  const aggregation = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }
  await assert.rejects(
    checkFor(pods('get'))('clusterroles', aggregation),
    /must have cluster-admin/,
  )
  const all = checkFor(
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  )
  await all('clusterroles', aggregation)
})

test('coverage compares rights, not the way they are written', () => {
  const cases: [held: PolicyRule[], wanted: PolicyRule, missing: string[]][] = [
    [[pods('get'), pods('list')], pods('get', 'list'), []],
    [[{ ...pods('*') }], pods('get', 'escalate'), []],
    [
      [{ apiGroups: ['*'], resources: ['*/scale'], verbs: ['get'] }],
      { apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['get'] },
      [],
    ],
    [
      [{ ...pods('get'), resourceNames: ['a'] }],
      pods('get'),
      ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
    ],
    [
      [{ nonResourceURLs: ['/a/*'], verbs: ['get'] }],
      { nonResourceURLs: ['/a/b', '/c'], verbs: ['get'] },
      ['{NonResourceURLs:["/c"], Verbs:["get"]}'],
    ],
  ]
  for (const [held, wanted, missing] of cases) {
    assert.deepEqual(compactRights(missingRights(held, [wanted])).map(describeRule), missing)
  }
})
