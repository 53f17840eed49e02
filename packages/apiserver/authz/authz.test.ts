import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attributes, UserInfo } from '../contract/access.ts'
import { ensureBootstrapObjects, nodeRules } from '../bootstrap-policy/bootstrap-objects.ts'
import { ObjectTable } from '../testing/object-table.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { createSelfSubjectAccessReview, createSubjectAccessReview } from './access-reviews.ts'
import { chainAuthorizers, forbidden } from './authorizer-chain.ts'
import { createNodeAuthorizer } from './node-authorizer.ts'
import { createRbacAuthorizer, mastersAuthorizer } from './rbac-authorizer.ts'
import { createRuleResolver } from './rule-resolver.ts'
import { createSelfSubjectRulesReview } from './rules-review.ts'

const user = (name: string, ...groups: string[]): UserInfo => ({ name, groups, extra: {} })

/** `verb resource[.group][/sub] [namespace/][name] [fieldSelector]` or `verb /path`. */
function ask(who: UserInfo, text: string): Attributes {
  const [verb = '', target = '', where = '', fieldSelector] = text.split(' ')
  if (target.startsWith('/')) return { user: who, verb, path: target, isResourceRequest: false }
  const [whole = '', subresource = ''] = target.split('/')
  const [resource = '', ...group] = whole.split('.')
  const [namespace = '', name = ''] = where.includes('/') ? where.split('/') : ['', where]
  return {
    user: who,
    verb,
    isResourceRequest: true,
    resource: { group: group.join('.'), version: 'v1', resource },
    subresource,
    namespace,
    name,
    path: '',
    ...(fieldSelector ? { fieldSelector } : {}),
  }
}

const role = (name: string, rules: object[], namespace?: string) => ({
  metadata: { name, ...(namespace ? { namespace } : {}) },
  rules,
})
const binding = (name: string, roleRef: object, subjects: object[], namespace?: string) => ({
  metadata: { name, ...(namespace ? { namespace } : {}) },
  roleRef,
  subjects,
})

function policy(): ObjectTable {
  const cluster = (name: string) => ({
    kind: 'ClusterRole',
    name,
    apiGroup: 'rbac.authorization.k8s.io',
  })
  return new ObjectTable()
    .put(
      wellKnown.clusterRoles,
      role('reader', [
        { apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get', 'list'] },
        { nonResourceURLs: ['/healthz', '/metrics/*'], verbs: ['get'] },
      ]),
    )
    .put(
      wellKnown.clusterRoles,
      role('scaler', [{ apiGroups: ['*'], resources: ['*/scale'], verbs: ['*'] }]),
    )
    .put(
      wellKnown.roles,
      role(
        'one-secret',
        [
          {
            apiGroups: [''],
            resources: ['secrets'],
            resourceNames: ['key'],
            verbs: ['get', 'list'],
          },
        ],
        'shop',
      ),
    )
    .put(
      wellKnown.clusterRoleBindings,
      binding('readers', cluster('reader'), [
        { kind: 'Group', name: 'readers' },
        { kind: 'ServiceAccount', name: 'robot', namespace: 'shop' },
      ]),
    )
    .put(
      wellKnown.roleBindings,
      binding('scale-shop', cluster('scaler'), [{ kind: 'User', name: 'jane' }], 'shop'),
    )
    .put(
      wellKnown.roleBindings,
      binding(
        'secret',
        { kind: 'Role', name: 'one-secret' },
        [{ kind: 'ServiceAccount', name: 'robot' }],
        'shop',
      ),
    )
    .put(
      wellKnown.clusterRoleBindings,
      binding('broken', cluster('gone'), [{ kind: 'User', name: 'joe' }]),
    )
}

const robot = user('system:serviceaccount:shop:robot')
const rbacCases: [who: UserInfo, question: string, isAllowed: boolean][] = [
  [user('a', 'readers'), 'get pods shop/web', true],
  [user('a', 'readers'), 'list pods', true],
  [user('a', 'readers'), 'get pods/log shop/web', true],
  [user('a', 'readers'), 'get pods/exec shop/web', false],
  [user('a', 'readers'), 'delete pods shop/web', false],
  [user('a', 'readers'), 'get pods.metrics.k8s.io shop/web', false],
  [user('a', 'readers'), 'get /healthz', true],
  [user('a', 'readers'), 'get /metrics/cadvisor', true],
  [user('a', 'readers'), 'get /healthz/etcd', false],
  [user('a'), 'get pods shop/web', false],
  [robot, 'list pods', true],
  [robot, 'get secrets shop/key', true],
  [robot, 'get secrets shop/other', false],
  [robot, 'list secrets shop/', false],
  [robot, 'get secrets other/key', false],
  [user('jane'), 'update deployments.apps/scale shop/web', true],
  [user('jane'), 'update deployments.apps/scale other/web', false],
  [user('jane'), 'update deployments.apps shop/web', false],
  [user('root', 'system:masters'), 'delete nodes n1', true],
]
test('RBAC allows exactly the requests that some bound rule names', async () => {
  const authorizer = chainAuthorizers([
    mastersAuthorizer,
    createRbacAuthorizer(createRuleResolver(policy())),
  ])
  for (const [who, question, isAllowed] of rbacCases) {
    const { verdict } = await authorizer.authorize(ask(who, question))
    assert.equal(verdict === 'allow', isAllowed, `${who.name}: ${question}`)
  }
})

test('RBAC follows a changed binding at once, and names a role that is missing', async () => {
  const objects = policy()
  const authorizer = createRbacAuthorizer(createRuleResolver(objects))
  const question = ask(user('a', 'readers'), 'list pods')
  assert.equal((await authorizer.authorize(question)).verdict, 'allow')
  await objects.delete(wellKnown.clusterRoleBindings, '', 'readers')
  assert.equal((await authorizer.authorize(question)).verdict, 'no-opinion')
  const { reason } = await authorizer.authorize(ask(user('joe'), 'list pods'))
  assert.equal(reason, 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found')
})

test('a refusal reads as upstream words it', () => {
  const texts: [question: string, message: string][] = [
    [
      'list pods y/',
      'pods is forbidden: User "x" cannot list resource "pods" in API group "" in the namespace "y"',
    ],
    [
      'get nodes n1',
      'nodes "n1" is forbidden: User "x" cannot get resource "nodes" in API group "" at the cluster scope',
    ],
    [
      'create pods/exec y/p',
      'pods "p" is forbidden: User "x" cannot create resource "pods/exec" in API group "" in the namespace "y"',
    ],
    [
      'list jobs.batch y/',
      'jobs.batch is forbidden: User "x" cannot list resource "jobs" in API group "batch" in the namespace "y"',
    ],
    ['get /metrics', 'forbidden: User "x" cannot get path "/metrics"'],
  ]
  for (const [question, message] of texts) {
    assert.equal(forbidden(ask(user('x'), question), '').message, message)
  }
})

function siteWithPods(): ObjectTable {
  const spec = {
    nodeName: 'n1',
    serviceAccountName: 'robot',
    imagePullSecrets: [{ name: 'pull' }],
    containers: [
      { name: 'c', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'env', key: 'k' } } }] },
    ],
    volumes: [
      { name: 'a', configMap: { name: 'settings' } },
      { name: 'b', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'c', projected: { sources: [{ secret: { name: 'projected' } }] } },
      { name: 'd', ephemeral: {} },
    ],
  }
  return new ObjectTable()
    .put(wellKnown.pods, { metadata: { name: 'web', namespace: 'shop' }, spec })
    .put(wellKnown.pods, {
      metadata: { name: 'far', namespace: 'shop' },
      spec: {
        ...spec,
        nodeName: 'n2',
        imagePullSecrets: [{ name: 'far' }],
        serviceAccountName: 'far',
      },
    })
    .put(wellKnown.persistentVolumes, {
      metadata: { name: 'pv1' },
      spec: {
        claimRef: { namespace: 'shop', name: 'data' },
        csi: { nodeStageSecretRef: { namespace: 'drivers', name: 'stage' } },
      },
    })
    .put(wellKnown.volumeAttachments, { metadata: { name: 'va1' }, spec: { nodeName: 'n1' } })
}

const nodeCases: [question: string, isAllowed: boolean][] = [
  ['get secrets shop/pull', true],
  ['list secrets shop/env', true],
  ['watch secrets shop/projected', true],
  ['get secrets shop/far', false],
  ['list secrets shop/', false],
  ['list secrets', false],
  ['update secrets shop/pull', false],
  ['get secrets other/pull', false],
  ['get secrets drivers/stage', true],
  ['get configmaps shop/settings', true],
  ['get configmaps shop/other', false],
  ['get persistentvolumeclaims shop/data', true],
  ['get persistentvolumeclaims shop/web-d', true],
  ['list persistentvolumeclaims shop/data', false],
  ['patch persistentvolumeclaims/status shop/data', true],
  ['get persistentvolumes pv1', true],
  ['get persistentvolumes pv2', false],
  ['get volumeattachments.storage.k8s.io va1', true],
  ['create serviceaccounts/token shop/robot', true],
  ['create serviceaccounts/token shop/far', false],
  ['get nodes n1', true],
  ['get nodes n2', false],
  ['list nodes', false],
  ['create nodes', true],
  ['patch nodes/status n1', true],
  ['delete nodes n1', false],
  ['list pods /x spec.nodeName=n1', true],
  ['watch pods / spec.nodeName=n2', false],
  ['list pods shop/', false],
  ['get pods shop/web', true],
  ['get pods shop/far', false],
  ['patch pods/status shop/web', true],
  ['create pods/eviction shop/web', true],
  ['create pods/exec shop/web', false],
  ['create leases.coordination.k8s.io kube-node-lease/', true],
  ['update leases.coordination.k8s.io kube-node-lease/n1', true],
  ['update leases.coordination.k8s.io kube-node-lease/n2', false],
  ['update leases.coordination.k8s.io kube-system/n1', false],
  ['get csinodes.storage.k8s.io n1', true],
  ['get csinodes.storage.k8s.io n2', false],
  ['list services', true],
  ['create certificatesigningrequests.certificates.k8s.io', true],
  ['create deployments.apps shop/', false],
]
test('a node reaches the objects that its own pods use, and no more', async () => {
  const authorizer = createNodeAuthorizer(siteWithPods(), nodeRules())
  for (const [question, isAllowed] of nodeCases) {
    const who = user('system:node:n1', 'system:nodes')
    const { verdict } = await authorizer.authorize(ask(who, question))
    assert.equal(verdict === 'allow', isAllowed, question)
  }
  const impostor = ask(user('system:node:n1'), 'get secrets shop/pull')
  assert.equal((await authorizer.authorize(impostor)).verdict, 'no-opinion')
})

test('a node reaches the objects that ephemeral containers of its own pods use, and no more', async () => {
  const podOn = (nodeName: string, name: string) => {
    const ref = (what: string) => ({ name: `${name}-${what}`, key: 'k' })
    const debug = {
      name: 'debug',
      image: 'debug',
      env: [
        { name: 'A', valueFrom: { secretKeyRef: ref('secret-env') } },
        { name: 'B', valueFrom: { configMapKeyRef: ref('map-env') } },
      ],
      envFrom: [{ secretRef: ref('secret-from') }, { configMapRef: ref('map-from') }],
    }
    const spec = { nodeName, containers: [{ name: 'c' }], ephemeralContainers: [debug] }
    return { metadata: { name, namespace: 'shop' }, spec }
  }
  const objects = new ObjectTable()
    .put(wellKnown.pods, podOn('n1', 'near'))
    .put(wellKnown.pods, podOn('n2', 'far'))
  const authorizer = createNodeAuthorizer(objects, nodeRules())
  const who = user('system:node:n1', 'system:nodes')
  for (const pod of ['near', 'far']) {
    for (const what of ['secret-env', 'map-env', 'secret-from', 'map-from']) {
      const resource = what.startsWith('secret') ? 'secrets' : 'configmaps'
      const question = `get ${resource} shop/${pod}-${what}`
      const { verdict } = await authorizer.authorize(ask(who, question))
      assert.equal(verdict === 'allow', pod === 'near', question)
    }
  }
})

test('access reviews answer for another and for oneself, and refuse half a question', async () => {
  const authorizer = createRbacAuthorizer(createRuleResolver(policy()))
  const signal = new AbortController().signal
  const review = (kind: string, spec: object) => ({
    object: { apiVersion: 'authorization.k8s.io/v1', kind, metadata: {}, spec },
    namespace: '',
    isDryRun: false,
    admitValid: async () => undefined,
    user: user('a', 'readers'),
    signal,
  })
  const pods = { verb: 'list', resource: 'pods' }
  const self = createSelfSubjectAccessReview(authorizer)
  const mine = await self.review(review('SelfSubjectAccessReview', { resourceAttributes: pods }))
  assert.deepEqual(mine.status, {
    allowed: true,
    reason:
      'RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" to Group "readers"',
  })
  const others = createSubjectAccessReview(authorizer)
  const theirs = await others.review(
    review('SubjectAccessReview', { user: 'jane', resourceAttributes: pods }),
  )
  assert.deepEqual(theirs.status, { allowed: false })
  await assert.rejects(others.review(review('SubjectAccessReview', { resourceAttributes: pods })), {
    code: 422,
    message:
      '.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified',
  })
})

test('the rules review lists the rights that bindings give in that namespace', async () => {
  const objects = policy()
  await ensureBootstrapObjects(objects)
  const handler = createSelfSubjectRulesReview(createRuleResolver(objects))
  const answer = await handler.review({
    object: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      metadata: {},
      spec: { namespace: 'shop' },
    },
    namespace: '',
    isDryRun: false,
    admitValid: async () => undefined,
    user: user('jane'),
    signal: new AbortController().signal,
  })
  assert.deepEqual(answer.status, {
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*/scale'] }],
    nonResourceRules: [],
    incomplete: false,
  })
})

test('the rules review says that a webhook may allow more', async () => {
  const objects = policy()
  await ensureBootstrapObjects(objects)
  const handler = createSelfSubjectRulesReview(createRuleResolver(objects), {
    hasWebhook: () => true,
  })
  const answer = await handler.review({
    object: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      metadata: {},
      spec: { namespace: 'shop' },
    },
    namespace: '',
    isDryRun: false,
    admitValid: async () => undefined,
    user: user('jane'),
    signal: new AbortController().signal,
  })
  assert.deepEqual(answer.status, {
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*/scale'] }],
    nonResourceRules: [],
    incomplete: true,
    evaluationError: 'webhook authorizer does not support user rule resolution',
  })
})
