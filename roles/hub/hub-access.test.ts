import assert from 'node:assert/strict'
import { request as httpsRequest } from 'node:https'
import { test } from 'node:test'
import type { PolicyRule } from '@skerry/api'
import { createStaticToken } from '@skerry/apiserver'
import { resources } from '@skerry/client'
import {
  clusterAccessResource,
  type ClusterAccess,
  clusterResource,
  userTokenSecret,
  usersNamespace,
} from '@skerry/fleet-kinds'
import { reachableClustersPath, type ReachableClusters } from '@skerry/gateway'
import { createUserToken, listUserTokens, removeUserTokens } from '../admin/user-tokens.ts'
import {
  registerCluster,
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const rbac = 'rbac.authorization.k8s.io'

interface Asker {
  subject?: { commonName: string; organizations?: string[] }
  token?: string
}

/** Sends any request as that user; resolves with the answer's JSON. */
async function call(
  fleet: TestHub,
  path: string,
  { subject, token }: Asker,
  sent?: { method: string; body: unknown; type?: string },
): Promise<{ status: number; body: Record<string, unknown> & { message?: string } }> {
  const known = subject ? await fleet.credentialsOf(subject) : undefined
  const { port } = new URL(fleet.url)
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method: sent?.method ?? 'GET',
        ca: fleet.caPem,
        ...(known ? { cert: known.certificate, key: known.key } : {}),
        headers: {
          connection: 'close',
          'content-type': sent?.type ?? 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const body = text.startsWith('{') ? JSON.parse(text) : { message: text }
          resolve({ status: response.statusCode ?? 0, body })
        })
      },
    )
    request.on('error', reject)
    request.end(sent === undefined ? undefined : JSON.stringify(sent.body))
  })
}

async function addCluster(fleet: TestHub, name: string, labels: Record<string, string>) {
  await registerCluster(fleet, name, labels)
}

const accessPath = '/apis/hub.skerry.io/v1alpha1/clusteraccesses'
function access(name: string, spec: Partial<ClusterAccess['spec']>) {
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'ClusterAccess',
    metadata: { name },
    spec: {
      subjects: [{ kind: 'Group', name: 'north', apiGroup: rbac }],
      clusterSelector: { matchLabels: { region: 'north' } },
      verbs: ['get', 'list'],
      ...spec,
    },
  }
}

const rita = { commonName: 'rita', organizations: ['north'] }

async function reachable(fleet: TestHub, asker: Asker): Promise<ReachableClusters> {
  const { status, body } = await call(fleet, reachableClustersPath, asker)
  assert.equal(status, 200, JSON.stringify(body))
  // That path answers in this shape; the test fails below if it does not.
  return body as unknown as ReachableClusters
}

async function mayReach(fleet: TestHub, asker: Asker, verb: string, name: string) {
  const resourceAttributes = {
    group: 'cluster.karmada.io',
    resource: 'clusters',
    subresource: 'proxy',
    verb,
    name,
  }
  const { body } = await call(
    fleet,
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    asker,
    {
      method: 'POST',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes },
      },
    },
  )
  return (body['status'] as { allowed?: boolean }).allowed === true
}

test('a ClusterAccess leads to the clusters with its labels, by its verbs, as long as they have them', async () => {
  await using fleet = await startTestHub()
  await addCluster(fleet, 'oslo', { region: 'north' })
  await addCluster(fleet, 'rome', { region: 'south' })
  const asker = { subject: rita }
  assert.deepEqual((await reachable(fleet, asker)).clusters, [])
  const north = access('north', {})
  await fleet.admin.resource(clusterAccessResource).create(north, soon())
  const list = await reachable(fleet, asker)
  assert.deepEqual(list.user, { username: 'rita', groups: ['north', 'system:authenticated'] })
  assert.deepEqual(list.clusters, [
    { name: 'oslo', verbs: ['get', 'list'], labels: { region: 'north' }, connected: false },
  ])
  // The request is allowed, to a cluster without a tunnel; the others are refused by name.
  assert.equal((await call(fleet, '/clusters/oslo/version', asker)).status, 503)
  for (const [path, method] of [
    ['/clusters/rome/version', 'GET'],
    ['/clusters/oslo/api/v1/namespaces?watch=1', 'GET'],
    ['/clusters/oslo/api/v1/namespaces', 'POST'],
    ['/clusters/oslo/api/v1/namespaces/a/pods/b/exec', 'GET'],
  ] as const) {
    const answer = await call(
      fleet,
      path,
      asker,
      method === 'POST' ? { method, body: {} } : undefined,
    )
    assert.equal(answer.status, 403, path)
  }
  assert.ok(await mayReach(fleet, asker, 'get', 'oslo'))
  assert.ok(!(await mayReach(fleet, asker, 'create', 'oslo')))
  assert.ok(!(await mayReach(fleet, asker, 'get', 'rome')))
  assert.ok(!(await mayReach(fleet, asker, 'get', '')))
  assert.ok(!(await mayReach(fleet, asker, 'get', 'nowhere')))
  const patch = { metadata: { labels: { region: 'west' } } }
  await fleet.admin.resource(clusterResource).patch({ name: 'oslo', type: 'merge', patch }, soon())
  assert.equal((await call(fleet, '/clusters/oslo/version', asker)).status, 403)
  assert.deepEqual((await reachable(fleet, asker)).clusters, [])
})

test("a user's own rights include the clusters that a ClusterAccess leads to", async () => {
  await using fleet = await startTestHub()
  await addCluster(fleet, 'oslo', { region: 'north' })
  await addCluster(fleet, 'rome', { region: 'south' })
  const spec = { subjects: [{ kind: 'User', name: 'rita', apiGroup: rbac }], verbs: ['watch'] }
  for (const each of [access('north', {}), access('watchers', spec)])
    await fleet.admin.resource(clusterAccessResource).create(each, soon())
  interface Told {
    readonly resourceRules?: object[]
    readonly nonResourceRules?: { readonly nonResourceURLs?: string[] }[]
  }
  const asked = async (subject: Asker['subject']): Promise<Told> => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'
    const kind = 'SelfSubjectRulesReview'
    const body = { apiVersion: 'authorization.k8s.io/v1', kind, spec: { namespace: 'default' } }
    const answer = await call(fleet, path, subject ? { subject } : {}, { method: 'POST', body })
    // The review's status, as its kind has it.
    return answer.body['status'] as Told
  }
  const askPaths = async (subject: Asker['subject']): Promise<string[]> => {
    const { nonResourceRules = [] } = await asked(subject)
    const all = nonResourceRules.flatMap(({ nonResourceURLs = [] }) => nonResourceURLs)
    return all.filter((path) => path.startsWith('/hub/'))
  }
  const ask = async (subject: Asker['subject']): Promise<unknown[]> => {
    const { resourceRules = [] } = await asked(subject)
    return resourceRules.filter((rule) => JSON.stringify(rule).includes('clusters/proxy'))
  }
  const rule = {
    apiGroups: ['cluster.karmada.io'],
    resources: ['clusters/proxy'],
    resourceNames: ['oslo'],
  }
  assert.deepEqual(await ask(rita), [
    { ...rule, verbs: ['watch'] },
    { ...rule, verbs: ['get', 'list'] },
  ])
  assert.deepEqual(await ask({ commonName: 'tom' }), [])
  const paths = ['/hub/v1/clusters', '/hub/v1/cluster-states', '/hub/v1/cluster-states/*']
  assert.deepEqual(await askPaths({ commonName: 'tom' }), paths)
  const patch = { metadata: { labels: { region: 'west' } } }
  await fleet.admin.resource(clusterResource).patch({ name: 'oslo', type: 'merge', patch }, soon())
  assert.deepEqual(await ask(rita), [])
})

test('no user can grant access to clusters without having it', async () => {
  await using fleet = await startTestHub()
  await addCluster(fleet, 'oslo', { region: 'north' })
  await addCluster(fleet, 'rome', { region: 'south' })
  const writer = { subject: { commonName: 'walt' } }
  const rules = [
    {
      apiGroups: ['hub.skerry.io'],
      resources: ['clusteraccesses'],
      verbs: ['create', 'update', 'patch'],
    },
    {
      apiGroups: ['cluster.karmada.io'],
      resources: ['clusters', 'clusters/status'],
      verbs: ['get', 'patch'],
    },
    { apiGroups: ['cluster.karmada.io'], resources: ['clusters/proxy'], verbs: ['get'] },
  ]
  await bindRules(fleet, 'walt', rules)
  const create = (name: string, spec: Partial<ClusterAccess['spec']>) =>
    call(fleet, accessPath, writer, { method: 'POST', body: access(name, spec) })
  const refused = await create('reads', { verbs: ['get', 'list'] })
  assert.equal(refused.status, 403)
  assert.equal(
    refused.body.message,
    'clusteraccesses.hub.skerry.io "reads" is forbidden: user "walt" is attempting to grant clusters/proxy permissions not currently held: "list" on every cluster',
  )
  assert.equal((await create('all', { verbs: ['*'] })).status, 403)
  // A right to the API is none to services.
  const services = await create('services', { verbs: ['get'], serviceVerbs: ['get', 'create'] })
  assert.match(
    services.body.message ?? '',
    /is attempting to grant clusters\/services permissions not currently held: "get", "create" on every cluster/,
  )
  assert.equal((await create('reads', { verbs: ['get'] })).status, 201)
  const merge = (path: string, body: object) =>
    call(fleet, path, writer, { method: 'PATCH', body, type: 'application/merge-patch+json' })
  const wider = { spec: { verbs: ['get', 'delete'] } }
  assert.equal((await merge(`${accessPath}/reads`, wider)).status, 403)
  // Nor may it use a label that puts a cluster under another user's grant.
  await fleet.admin
    .resource(clusterAccessResource)
    .create(access('writes', { verbs: ['create'] }), soon())
  const labelled = { metadata: { labels: { region: 'north' } } }
  for (const path of ['rome', 'rome/status']) {
    const answer = await merge(`/apis/cluster.karmada.io/v1alpha1/clusters/${path}`, labelled)
    const rome = await fleet.admin.resource(clusterResource).get({ name: 'rome' }, soon())
    assert.equal(rome.metadata.labels?.['region'], 'south', path)
    if (path === 'rome')
      assert.match(
        answer.body.message ?? '',
        /"create" on cluster "rome", to which ClusterAccess "writes"/,
      )
  }
  await bindRules(fleet, 'walt', [
    {
      apiGroups: ['hub.skerry.io'],
      resources: ['clusteraccesses'],
      resourceNames: ['all'],
      verbs: ['bind'],
    },
  ])
  assert.equal((await create('all', { verbs: ['*'] })).status, 201)
})

async function bindRules(fleet: TestHub, user: string, rules: PolicyRule[]) {
  const metadata = { generateName: `${user}-` }
  const apiVersion = `${rbac}/v1`
  const role = await fleet.admin
    .resource(resources.clusterRoles)
    .create({ apiVersion, kind: 'ClusterRole', metadata, rules }, soon())
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: role.metadata.name ?? '' }
  const subjects = [{ apiGroup: rbac, kind: 'User', name: user }]
  await fleet.admin
    .resource(resources.clusterRoleBindings)
    .create({ apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects }, soon())
}

test('a ClusterAccess that says something else than it means is refused', async () => {
  await using fleet = await startTestHub()
  const admin = { subject: { commonName: 'olga', organizations: ['system:masters'] } }
  const wrong: [spec: object, field: string][] = [
    [{ verbs: [] }, 'spec.verbs'],
    [{ verbs: ['exec'] }, 'spec.verbs[0]'],
    [{ serviceVerbs: ['get', 'list'] }, 'spec.serviceVerbs[1]'],

    [
      { clusterSelector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } },
      'spec.clusterSelector',
    ],
    [{ subjects: [{ kind: 'Robot', name: 'r2' }] }, 'spec.subjects[0].kind'],
    [{ subjects: [{ kind: 'ServiceAccount', name: 'ci' }] }, 'spec.subjects[0].namespace'],
    [{ subjects: [{ kind: 'User', name: '' }] }, 'spec.subjects[0].name'],
  ]
  for (const [spec, field] of wrong) {
    const answer = await call(fleet, accessPath, admin, {
      method: 'POST',
      body: access('odd', spec),
    })
    assert.equal(answer.status, 422, `${field}: ${answer.body.message}`)
    assert.ok(answer.body.message?.includes(field))
  }
})

test('a token of the hub is that user here and at the edge, until it is removed or over', async () => {
  await using edge = await startTestEdge()
  await using fleet = await startTestHub()
  await using _agent = await startTestAgent(fleet, { name: 'edge', api: edge.api })
  await untilCluster(fleet, 'edge', ({ Connected }) => Connected === 'True')
  await bindRules(fleet, 'tom', [
    { apiGroups: ['cluster.karmada.io'], resources: ['clusters/proxy'], verbs: ['create', 'get'] },
  ])
  const give = (name: string, ttlMs?: number) =>
    createUserToken(fleet.admin, { name, groups: ['crew'], ttlMs }, Date.now(), soon())
  const { token, id } = await give('tom')
  const secrets = fleet.admin.resource(resources.secrets)
  const kept = await secrets.list({ namespace: usersNamespace }, soon())
  assert.ok(!JSON.stringify(kept).includes(token.split('.')[1] ?? token))
  await assert.rejects(give('system:node:n1'), /must not begin with "system:"/)
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const who = await call(
    fleet,
    `/clusters/edge${path}`,
    { token },
    { method: 'POST', body: review },
  )
  const { userInfo } = who.body['status'] as { userInfo: Record<string, unknown> }
  assert.equal(userInfo['username'], 'tom')
  assert.deepEqual(userInfo['groups'], ['crew', 'system:authenticated'])
  const { 'hub.skerry.io/token-id': ids } = userInfo['extra'] as Record<string, string[]>
  assert.deepEqual(ids, [token.split('.')[0]])
  // Expired tokens, tokens of system names, and guesses are all refused.
  const over = await give('tom', -1)
  // Such a token can be written without the command.
  const { token: boss, entry } = await createStaticToken({
    name: 'tom',
    groups: ['system:masters'],
    extra: {},
  })
  await secrets.create(userTokenSecret({ entry }), soon())
  const guess = `${token.split('.')[0]}.${'A'.repeat(43)}`
  for (const bad of [over.token, boss, guess, `${token}.x`, `${token}x`]) {
    assert.equal((await call(fleet, reachableClustersPath, { token: bad })).status, 401)
  }
  const names = (await listUserTokens(fleet.admin, soon())).map(({ name }) => name)
  assert.deepEqual(names, ['tom', 'tom'])
  const removed = await removeUserTokens(fleet.admin, { name: 'tom', tokenId: id }, soon())
  assert.deepEqual(removed, [id])
  assert.equal((await call(fleet, '/clusters/edge/version', { token })).status, 401)
})

test('an unknown user does not learn which clusters there are', async () => {
  await using fleet = await startTestHub()
  await addCluster(fleet, 'oslo', {})
  assert.equal((await call(fleet, reachableClustersPath, {})).status, 403)
  const answer = await call(fleet, '/clusters/oslo/version', {})
  const other = await call(fleet, '/clusters/nowhere/version', {})
  assert.equal(answer.status, 403)
  assert.equal(answer.body.message?.replaceAll('oslo', 'nowhere'), other.body.message)
})
