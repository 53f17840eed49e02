import assert from 'node:assert/strict'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { StatusError, type ConfigMap } from '@skerry/api'
import { silentLogger, systemClock } from '@skerry/base'
import { createCluster, readBody, resources, type Transport } from '@skerry/client'
import {
  agentUserName,
  agentsGroup,
  clusterResource,
  executionNamespace,
} from '@skerry/fleet-kinds'
import { revokeAgent } from '@skerry/membership'
import { until } from '@skerry/testing'
import { auditedLines, untilAudited, type AuditedLine } from '../../testing/scenes/audited-lines.ts'
import {
  heldWay,
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import { createClusterToken } from '../admin/hub-join-token.ts'
import { openAgentIdentity } from '../agent/agent-identity.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const operator = { commonName: 'olga', organizations: ['system:masters', 'operators'] }
const edgePath = '/clusters/edge'

async function startFleet() {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startTestEdge())
  const fleet = stack.use(await startTestHub())
  const way = heldWay()
  const { connect } = way
  const agent = stack.use(await startTestAgent(fleet, { name: 'edge', api: edge.api, connect }))
  await untilCluster(
    fleet,
    'edge',
    ({ Ready, Connected }) => Ready === 'True' && Connected === 'True',
  )
  const owned = stack.move()
  return { edge, fleet, agent, way, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function clusterOver(transport: Transport) {
  const deps = { clock: systemClock, log: silentLogger, userAgent: 'test' }
  return createCluster(transport, deps)
}

interface Answer {
  status: number
  headers: Readonly<Record<string, unknown>>
  body: { reason?: string; message?: string; details?: Record<string, unknown>; status?: unknown }
}

/** Uses the raw path, which a client library would normalize. */
async function rawCall(
  fleet: TestHub,
  path: string,
  options: {
    user?: { commonName: string; organizations?: string[] }
    method?: string
    headers?: Record<string, string>
    body?: string
  } = {},
): Promise<Answer> {
  const { certificate: cert, key } = await fleet.credentialsOf(options.user ?? operator)
  const { port } = new URL(fleet.url)
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method: options.method ?? 'GET',
        headers: { connection: 'close', 'content-type': 'application/json', ...options.headers },
        ca: fleet.caPem,
        cert,
        key,
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const body = text.startsWith('{') ? JSON.parse(text) : { message: text }
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
        })
      },
    )
    request.on('error', reject)
    request.on('upgrade', (_answer, socket) => {
      socket.destroy()
      resolve({ status: 101, headers: {}, body: {} })
    })
    request.end(options.body)
  })
}

const selfReview = {
  method: 'POST',
  body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
}
const selfReviewPath = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

interface UserShown {
  username: string
  groups: string[]
}

function userOf({ body }: Answer): UserShown {
  // The answer is a SelfSubjectReview: the test fails below if it is not.
  const { userInfo } = body.status as { userInfo: UserShown }
  return userInfo
}

test('an edge cluster is used through the hub as if it were near', async () => {
  await using all = await startFleet()
  const { fleet, edge } = all
  using transport = await fleet.as(operator, edgePath)
  const cluster = clusterOver(transport)
  const configMaps = cluster.resource(resources.configMaps)
  const metadata = { namespace: 'default', name: 'greeting' }
  const stop = new AbortController()
  const seen: string[] = []
  const watching = (async () => {
    for await (const event of configMaps.watch({ namespace: 'default' }, stop.signal)) {
      if (event.type === 'BOOKMARK') continue
      seen.push(`${event.type} ${event.object.data?.['text'] ?? ''}`)
      if (seen.length === 3) return
    }
  })()
  const object: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { text: 'ahoy' },
  }
  await configMaps.create(object, soon())
  const patch = { data: { text: 'moin' } }
  await configMaps.patch({ ...metadata, type: 'merge', patch }, soon())
  assert.equal((await configMaps.get(metadata, soon())).data?.['text'], 'moin')
  assert.deepEqual(
    (await configMaps.list({ namespace: 'default' }, soon())).items.map((one) => one.metadata.name),
    ['greeting'],
  )
  await configMaps.delete(metadata, soon())
  await watching
  assert.deepEqual(seen, ['ADDED ahoy', 'MODIFIED moin', 'DELETED moin'])
  assert.equal(
    edge.objects.get({ group: '', resource: 'configmaps' }, 'default', 'greeting'),
    undefined,
  )
})

test('the edge sees the person, not the agent, whatever the client claims', async () => {
  await using all = await startFleet()
  const { fleet } = all
  const claims = {
    'X-Remote-User': 'root',
    'x-remote-group': 'system:masters',
    'X-Remote-Extra-Scopes': 'all',
    'Impersonate-Extra-Scopes': 'all',
    'impersonate-user': 'karl',
    'impersonate-group': 'system:masters',
  }
  const paths = [
    `${edgePath}${selfReviewPath}`,
    `/apis/cluster.karmada.io/v1alpha1/clusters/edge/proxy${selfReviewPath}`,
  ]
  for (const path of paths) {
    const plain = userOf(await rawCall(fleet, path, selfReview))
    assert.equal(plain.username, 'olga')
    assert.deepEqual(plain.groups, ['system:masters', 'operators', 'system:authenticated'])
    // The hub itself lets an administrator impersonate another user, whom the edge sees.
    const acting = userOf(await rawCall(fleet, path, { ...selfReview, headers: claims }))
    assert.equal(acting.username, 'karl')
    assert.deepEqual(acting.groups, ['system:masters', 'system:authenticated'])
  }
})

test('RBAC on the hub decides who may reach which cluster, and by which verb', async () => {
  await using all = await startFleet()
  const { fleet } = all
  const reader = { commonName: 'rita' }
  const refused = await rawCall(fleet, `${edgePath}/api/v1/namespaces`, { user: reader })
  assert.equal(refused.status, 403)
  assert.equal(
    refused.body.message,
    'clusters.cluster.karmada.io "edge" is forbidden: User "rita" cannot list resource "clusters/proxy" in API group "cluster.karmada.io" at the cluster scope',
  )
  await grant(fleet, 'rita', ['get', 'list'])
  const calls: [path: string, options: { method?: string; body?: string }, status: number][] = [
    // The hub allows it, and the edge answers: rita has no rights there.
    ['/api/v1/namespaces', {}, 403],
    ['/version', {}, 200],
    ['/api/v1/namespaces', selfReview, 403],
    ['/api/v1/namespaces?watch=1', {}, 403],
    ['/api/v1/namespaces/default/pods/web/exec?command=sh', {}, 403],
  ]
  const audited: string[] = []
  for (const [path, options, status] of calls) {
    const answer = await rawCall(fleet, `${edgePath}${path}`, { user: reader, ...options })
    assert.equal(answer.status, status, path)
    audited.push(answer.body.message ?? '')
  }
  assert.match(
    audited[0] ?? '',
    /namespaces is forbidden: User "rita" cannot list resource "namespaces"/,
  )
  assert.match(audited[2] ?? '', /cannot create resource "clusters\/proxy"/)
  assert.match(audited[3] ?? '', /cannot watch resource "clusters\/proxy"/)
  assert.match(audited[4] ?? '', /cannot create resource "clusters\/proxy"/)
  // A user who may read may send the edge self reviews, and is answered by name.
  const asked = { user: reader, ...selfReview }
  const myself = await rawCall(fleet, `${edgePath}${selfReviewPath}`, asked)
  assert.equal(myself.status, 201)
  assert.equal(userOf(myself).username, 'rita')
  const elsewhere = await rawCall(fleet, `/clusters/other${selfReviewPath}`, asked)
  assert.match(elsewhere.body.message ?? '', /cannot get resource "clusters\/proxy"/)
  const stranger = { ...asked, user: { commonName: 'walt' } }
  const unknown = await rawCall(fleet, `${edgePath}${selfReviewPath}`, stranger)
  assert.match(unknown.body.message ?? '', /User "walt" cannot get resource "clusters\/proxy"/)
  const other = await rawCall(fleet, '/clusters/other/version', { user: reader })
  assert.match(other.body.message ?? '', /clusters.cluster.karmada.io "other" is forbidden/)
})

async function grant(fleet: TestHub, user: string, verbs: string[]): Promise<void> {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = { name: 'edge-readers' }
  await fleet.admin.resource(resources.clusterRoles).create(
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata,
      rules: [
        {
          apiGroups: ['cluster.karmada.io'],
          resources: ['clusters/proxy'],
          resourceNames: ['edge'],
          verbs,
        },
      ],
    },
    soon(),
  )
  const apiGroup = 'rbac.authorization.k8s.io'
  await fleet.admin.resource(resources.clusterRoleBindings).create(
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'edge-readers' },
      subjects: [{ apiGroup, kind: 'User', name: user }],
    },
    soon(),
  )
}

test('a path that two servers could read differently is refused', async () => {
  await using all = await startFleet()
  const paths = [
    '/clusters/edge/../other/version',
    '/clusters/edge/api/%2e%2e/version',
    '/clusters/edge/api/.%2E/version',
    '/clusters/edge//version',
    '/clusters/edge/api/v1/namespaces/a%2fb',
    '/clusters/edge/api/v1/namespaces/a%5cb',
    '/clusters/edge/version%00',
    '/clusters/edge/version%zz',
    '/%63lusters/edge/version',
    '/clusters/%65dge/version',
    '/clusters/EDGE/version',
    '/apis/cluster.karmada.io/v1alpha1/clusters/edge/%70roxy/version',
    '/apis/cluster.karmada.io/v1alpha1/clusters/*/proxy/version',
  ]
  for (const path of paths) {
    const answer = await rawCall(all.fleet, path)
    assert.equal(answer.status, 400, path)
    assert.match(answer.body.message ?? '', /^Cannot pass request to a cluster: bad path/, path)
  }
  assert.equal((await rawCall(all.fleet, '/clusters/none/version')).status, 404)
})

test('a cut tunnel heals; meanwhile the hub says so at once', async () => {
  await using all = await startFleet()
  const { fleet, agent, way } = all
  const version = `${edgePath}/version`
  assert.equal((await rawCall(fleet, version)).status, 200)
  const back = agent.connected()
  const cut = way.hold()
  fleet.hub.connections.own.closeIdentity('edge', 'a digger found the cable')
  const away = await rawCall(fleet, version)
  assert.equal(away.status, 503)
  assert.equal(away.body.reason, 'ServiceUnavailable')
  assert.equal(away.headers['retry-after'], '2')
  assert.match(
    away.body.message ?? '',
    /^Cannot reach cluster "edge": a digger found the cable, not connected since 20\d\d-/,
  )
  await untilCluster(fleet, 'edge', ({ Connected }) => Connected === 'False')
  cut[Symbol.dispose]()
  await back
  assert.equal((await rawCall(fleet, version)).status, 200)
  await untilCluster(fleet, 'edge', ({ Connected }) => Connected === 'True')
})

test('only its own agent may open the tunnel of a cluster', async () => {
  await using all = await startFleet()
  const { fleet } = all
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-protocol': 'skerry-tunnel.v1',
  }
  const foreign = { commonName: agentUserName('other'), organizations: [agentsGroup] }
  for (const user of [foreign, operator, { commonName: agentUserName('edge') }]) {
    const answer = await rawCall(fleet, '/tunnel/v1/clusters/edge', { user, headers })
    assert.equal(answer.status, 403, user.commonName)
  }
  assert.equal(fleet.hub.connections.own.sessions('edge').length, 1)
  const isWanted = ({ uri }: AuditedLine): boolean => uri === '/tunnel/v1/clusters/edge'
  const lines = await untilAudited(fleet, { count: 3, isWanted }, soon())
  assert.deepEqual(
    lines.map(({ user, status }) => [user, status]),
    [foreign, operator, { commonName: agentUserName('edge') }].map((one) => [one.commonName, 403]),
  )
})

test('an agent touches its own objects and nothing else on the hub', async () => {
  await using all = await startFleet()
  const { fleet } = all
  using transport = await fleet.as({
    commonName: agentUserName('edge'),
    organizations: [agentsGroup],
  })
  const cluster = clusterOver(transport)
  const own = await cluster.resource(clusterResource).get({ name: 'edge' }, soon())
  assert.deepEqual(own.metadata.finalizers, ['karmada.io/cluster-controller'])
  const namespaces = cluster.resource(resources.namespaces)
  assert.equal(
    (await namespaces.get({ name: executionNamespace('edge') }, soon())).status?.phase,
    'Active',
  )
  const stranger = { ...own, metadata: { name: 'stranger' }, spec: { ...own.spec, id: 'other' } }
  const forbidden: Promise<unknown>[] = [
    cluster.resource(clusterResource).list({}, soon()),
    cluster.resource(clusterResource).get({ name: 'other' }, soon()),
    cluster.resource(clusterResource).create(stranger, soon()),
    cluster.resource(clusterResource).delete({ name: 'edge' }, soon()),
    cluster.resource(resources.secrets).list({ namespace: 'kube-system' }, soon()),
    cluster.resource(resources.leases).create(
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'other', namespace: 'karmada-cluster' },
      },
      soon(),
    ),
  ]
  const results = await Promise.allSettled(forbidden)
  const reasons = results.map((one) =>
    one.status === 'rejected' && one.reason instanceof StatusError ? one.reason.reason : one.status,
  )
  assert.deepEqual(reasons, Array<string>(6).fill('Forbidden'))
  const path = '/clusters/edge/version'
  const { status } = await cluster.raw({ method: 'GET', path, headers: {} }, soon())
  assert.equal(status, 403)
  const isWanted = (line: AuditedLine): boolean =>
    line.user === agentUserName('edge') && line.status === 403
  await untilAudited(fleet, { count: forbidden.length + 1, isWanted }, soon())
})

test('a cluster is registered with its own token and the right hub only', async () => {
  await using edge = await startTestEdge()
  await using fleet = await startTestHub()
  const context = { ...fleet.context, signal: soon() }
  const created = await createClusterToken(
    fleet.admin,
    { clusterName: 'edge', server: fleet.url, caPem: fleet.caPem, ttlSeconds: 60 },
    { clock: systemClock },
    soon(),
  )
  const options = {
    directory: join(fleet.directory, 'lost-agent'),
    hub: fleet.url,
    clusterName: 'edge',
    tokenFile: undefined,
    tokenText: created.token,
    caHash: created.caHash,
  }
  const wrong = { ...options, caHash: `sha256:${'0'.repeat(64)}` }
  await assert.rejects(openAgentIdentity(wrong, context), /somebody may be in between/)
  const none = { ...options, tokenText: undefined }
  await assert.rejects(openAgentIdentity(none, context), /skerry cluster join-command edge/)
  const unknown = { ...options, tokenText: 'abcdef.0123456789abcdef' }
  await assert.rejects(openAgentIdentity(unknown, context), /unknown there or expired/)
  const other = { ...options, clusterName: 'other' }
  await assert.rejects(
    openAgentIdentity(other, context),
    /is denied: the token is for cluster "edge", not "other"; pass --name edge, or the token of/,
  )
  await using _first = await startTestAgent(fleet, { name: 'edge', api: edge.api })
  await untilCluster(fleet, 'edge', ({ Ready }) => Ready === 'True')
  const twin = {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'twin' },
  }
  const { spec } = await fleet.admin.resource(clusterResource).get({ name: 'edge' }, soon())
  await assert.rejects(
    fleet.admin.resource(clusterResource).create({ ...twin, spec }, soon()),
    /is registered as "edge"/,
  )
})

test('revoking an agent cuts its tunnel and keeps it out until it has a new token', async () => {
  await using edge = await startTestEdge()
  await using fleet = await startTestHub()
  const directory = join(fleet.directory, 'agent')
  {
    await using agent = await startTestAgent(fleet, { name: 'edge', api: edge.api, directory })
    await untilCluster(
      fleet,
      'edge',
      ({ Ready, Connected }) => Ready === 'True' && Connected === 'True',
    )
    // The hub refuses requests made in the second of the revocation: the agent's next request must be later.
    const nowMs = Date.now() - 1_000
    await revokeAgent(fleet.admin, { cluster: 'edge', nowMs }, soon())
    await untilCluster(fleet, 'edge', ({ Connected }) => Connected === 'False')
    await until(() => agent.refusals.some((reason) => reason.includes('401')), soon())
    assert.equal(agent.refusals[0], 'the agent was revoked')
  }
  await using again = await startTestAgent(fleet, { name: 'edge', api: edge.api, directory })
  await again.connected()
  assert.equal((await rawCall(fleet, `${edgePath}/version`)).status, 200)
})

test('every request to a cluster leaves a line with its user, action, place and size', async () => {
  await using all = await startFleet()
  const { fleet } = all
  await rawCall(fleet, `${edgePath}/version`, { headers: { 'user-agent': 'sextant/1' } })
  await rawCall(fleet, `${edgePath}/version`, { user: { commonName: 'rita' } })
  await rawCall(fleet, `${edgePath}${selfReviewPath}`, selfReview)
  const read = async () =>
    (await auditedLines(fleet))
      .filter((line) => line.includes(`${edgePath}/version`) || line.includes(selfReviewPath))
      .map((line) => JSON.parse(line))
  const [good, bad, sent] = await until(async () => {
    const lines = await read()
    return lines.length >= 3 && lines
  }, soon())
  assert.deepEqual(
    [good.user, good.cluster, good.method, good.status, good.userAgent, good.source],
    ['olga', 'edge', 'GET', 200, 'sextant/1', '127.0.0.1'],
  )
  assert.ok(good.bytesOut > 100 && good.bytesIn === 0 && good.ms >= 0 && good.auditID)
  assert.deepEqual([bad.user, bad.status, bad.cluster], ['rita', 403, 'edge'])
  assert.deepEqual([sent.method, sent.bytesIn], ['POST', selfReview.body.length])
})

test('the hub answers its own users in the shape of a Kubernetes API', async () => {
  await using fleet = await startTestHub()
  using transport = await fleet.as(operator)
  const cluster = clusterOver(transport)
  const { resources: found } = await cluster.discover(soon())
  const clusters = found.find(({ resource }) => resource === 'clusters')
  assert.deepEqual(clusters?.subresources, ['status', 'proxy'])
  const long = {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'x'.repeat(49) },
  }
  await assert.rejects(
    cluster.resource(clusterResource).create({ ...long, spec: { syncMode: 'Pull' } }, soon()),
    /must be no more than 48 characters/,
  )
  const answer = await transport.send(
    { method: 'GET', path: '/openapi/v3/apis/cluster.karmada.io/v1alpha1', headers: {} },
    soon(),
  )
  assert.match((await readBody(answer.body)).toString(), /ClusterStatus/)
})
