import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { createLogger, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { resources } from '@skerry/client'
import { clusterAccessResource, clusterResource } from '@skerry/fleet-kinds'
import { clusterStatesPath, type ClusterState } from '@skerry/gateway'
import { agentMetricNames } from '../../packages/gateway/state/agent-metrics.ts'
import { hubMetricNames } from '../../packages/gateway/state/hub-metrics.ts'
import { until } from '@skerry/testing'
import { describeCluster, readCluster } from '../client/clusters/cluster-describe.ts'
import { statePrinter } from '../client/clusters/cluster-list.ts'
import { readState, readStates } from '../client/clusters/cluster-states.ts'
import { followStates } from '../client/clusters/follow-states.ts'
import { auditedLines } from '../../testing/scenes/audited-lines.ts'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
  type TestHubOptions,
} from '../../testing/scenes/test-fleet.ts'
import { openMetricsServer } from '../agent/agent-metrics-server.ts'
import { writeAdminKubeconfig } from '../control-plane/admin-kubeconfig.ts'
import { version } from '../runtime/version.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const operator = { commonName: 'olga', organizations: ['system:masters'] }
const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
const root = join(import.meta.dirname, '../..')
const isOpen = ({ Ready, Connected }: Readonly<Record<string, string>>): boolean =>
  Ready === 'True' && Connected === 'True'

async function startFleet(options: TestHubOptions & { agentLog?: TestHubOptions['log'] } = {}) {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startTestEdge())
  const fleet = stack.use(await startTestHub(options))
  const { agentLog: log = silentLogger } = options
  const agent = stack.use(await startTestAgent(fleet, { name: 'edge', api: edge.api, log }))
  await untilCluster(fleet, 'edge', isOpen)
  await untilState(fleet, ({ rttMs }) => rttMs !== null)
  const owned = stack.move()
  return { edge, fleet, agent, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Resolves with the cluster's state once it is as wanted. */
function untilState(
  fleet: TestHub,
  isWanted: (state: ClusterState) => boolean,
): Promise<ClusterState> {
  return until(async () => {
    const state = await readState(fleet.admin, 'edge', soon())
    return isWanted(state) ? state : undefined
  }, soon())
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

async function ask(
  fleet: TestHub,
  path: string,
  { user = operator, headers = {} }: { user?: { commonName: string }; headers?: object } = {},
): Promise<Answer> {
  const { certificate: cert, key } = await fleet.credentialsOf(user)
  const tls = { ca: fleet.caPem, cert, key, agent: false }
  return new Promise((resolve, reject) => {
    httpsRequest(new URL(path, fleet.url), { ...tls, headers: { ...headers } }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      )
    })
      .on('error', reject)
      .end()
  })
}

test('the state of a cluster answers an operator: how it is, since when, by which agents, how much it moves', async () => {
  await using all = await startFleet()
  const { fleet } = all
  const answer = await ask(fleet, `/clusters/edge/version`)
  assert.equal(answer.status, 200)
  const state = await readState(fleet.admin, 'edge', soon())
  assert.deepEqual([state.tunnel, state.ready, state.agents.length], ['open', 'True', 1])
  assert.equal(state.kubernetesVersion, 'v1.36.3+skerry')
  assert.ok(state.rttMs !== null && state.rttMs >= 0)
  assert.ok(state.bytesIn > 200 && state.bytesOut > 100, JSON.stringify(state))
  const [agent] = state.agents
  assert.deepEqual(
    [agent?.agent?.host, agent?.agent?.version, agent?.agent?.address],
    [hostname(), version, '127.0.0.1'],
  )
  const expiresMs = Date.parse(agent?.agent?.certificateExpires ?? '')
  assert.ok(expiresMs > Date.now() + 300 * 86_400_000, 'an agent has its certificate for a year')
  for (const time of [state.since, state.lastSeen]) {
    assert.ok(Math.abs(Date.parse(time ?? '') - Date.now()) < 60_000, String(time))
  }
  // The last end stays to be seen when it is open again.
  const back = all.agent.connected()
  fleet.hub.connections.own.closeIdentity('edge', 'a digger found the cable')
  await back
  const later = await untilState(fleet, ({ tunnel, rttMs }) => tunnel === 'open' && rttMs !== null)
  assert.equal(later.lastEnd?.reason, 'a digger found the cable')
  const events = await until(async () => {
    const facts = await readCluster(fleet.admin, 'edge', soon())
    return facts.events?.some(({ reason }) => reason === 'TunnelClosed') ? facts : undefined
  })
  const text = describeCluster('edge', events, Date.now()).join('\n')
  for (const expected of [
    /^Name: +edge$/m,
    /^Kubernetes: +v1\.36\.3\+skerry$/m,
    /^Tunnel: +open since \d{4}-/m,
    /^Round trip: +[\d.]+ms$/m,
    /^API cert: +\S+ left, until \d{4}-/m,
    /^Last end: +a digger found the cable, \d{4}-\S+ \(\d+s ago\)$/m,
    new RegExp(`^ {2}${hostname()} +127\\.0\\.0\\.1 +${version} .* left, until \\d{4}-`, 'm'),
    /^Conditions:\n {2}Type +Status +Since +Reason +Message\n/m,
    /^ {2}Connected +True .* TunnelOpen +The tunnel is open\.$/m,
    /^ {2}Warning +TunnelClosed +\S+ +cluster-monitor +The last tunnel ended at .*: a digger found the cable$/m,
  ]) {
    assert.match(text, expected)
  }
})

test('a user who may neither reach a cluster nor see its tunnels learns nothing of it', async () => {
  await using fleet = await startTestHub()
  const apiVersion = 'cluster.karmada.io/v1alpha1'
  for (const name of ['oslo', 'rome']) {
    const metadata = { name, labels: { site: name } }
    const object = { apiVersion, kind: 'Cluster', metadata, spec: { syncMode: 'Pull' as const } }
    await fleet.admin.resource(clusterResource).create(object, soon())
  }
  const apiGroup = 'rbac.authorization.k8s.io'
  await fleet.admin.resource(clusterAccessResource).create(
    {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'ClusterAccess',
      metadata: { name: 'guests' },
      spec: {
        subjects: [{ kind: 'User', name: 'rita', apiGroup }],
        clusterSelector: { matchLabels: { site: 'oslo' } },
        verbs: ['get'],
      },
    },
    soon(),
  )
  const names = async (user: { commonName: string }): Promise<string[]> => {
    const { text } = await ask(fleet, clusterStatesPath, { user })
    return JSON.parse(text).clusters.map(({ name }: ClusterState) => name)
  }
  const rita = { commonName: 'rita' }
  assert.deepEqual(await names(operator), ['oslo', 'rome'])
  assert.deepEqual(await names(rita), ['oslo'])
  assert.deepEqual(await names({ commonName: 'mallory' }), [])
  const one = async (name: string, user: { commonName: string }) =>
    ask(fleet, `${clusterStatesPath}/${name}`, { user })
  assert.equal((await one('oslo', rita)).status, 200)
  const [hidden, none] = [await one('rome', rita), await one('none', rita)]
  assert.deepEqual([hidden.status, none.status], [403, 403])
  assert.equal(
    JSON.parse(hidden.text).message.replace('rome', 'none'),
    JSON.parse(none.text).message,
  )
  assert.equal((await one('none', operator)).status, 404)
  // The right to see its tunnels is separate from the right to reach its API.
  const metadata = { name: 'watchers' }
  const rule = {
    apiGroups: ['cluster.karmada.io'],
    resources: ['clusters/tunnel'],
    resourceNames: ['rome'],
    verbs: ['get'],
  }
  await fleet.admin
    .resource(resources.clusterRoles)
    .create({ apiVersion: `${apiGroup}/v1`, kind: 'ClusterRole', metadata, rules: [rule] }, soon())
  await fleet.admin.resource(resources.clusterRoleBindings).create(
    {
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'watchers' },
      subjects: [{ apiGroup, kind: 'User', name: 'rita' }],
    },
    soon(),
  )
  assert.deepEqual(await names(rita), ['oslo', 'rome'])
  const anonymous = await new Promise<number>((resolve, reject) => {
    const target = new URL(clusterStatesPath, fleet.url)
    httpsRequest(target, { ca: fleet.caPem, agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })
  assert.equal(anonymous, 403)
})

test('the list comes as a table, wide, as JSON, YAML and names, and goes on while it is watched', async () => {
  await using all = await startFleet()
  const { fleet } = all
  const lines: string[] = []
  const write = (line: string): void => void lines.push(...line.split('\n'))
  const printed = async (output: string | undefined): Promise<string[]> => {
    lines.length = 0
    await statePrinter(output, false, write)(await readStates(fleet.admin, soon()), Date.now())
    return [...lines]
  }
  const [head = '', row] = await printed(undefined)
  assert.equal(
    head.replaceAll(/ {2,}/g, '|'),
    'NAME|READY|TUNNEL|SINCE|LAST SEEN|RTT|AGENTS|VERSION|NODES',
  )
  assert.match(
    row ?? '',
    /^edge {3}True {4}open +\d+s +\d+s +[\d.]+ms +1 +v1\.36\.3\+skerry +0\/0$/,
  )
  const [wideHead, wideRow] = await printed('wide')
  assert.match(wideHead ?? '', / STREAMS +IN\/S +OUT\/S +IN +OUT +HOST +ADDRESS +AGENT +CERT/)
  assert.match(wideRow ?? '', new RegExp(` ${hostname()} +127\\.0\\.0\\.1 +${version} +36\\dd +-$`))
  assert.deepEqual(await printed('name'), ['cluster.cluster.karmada.io/edge'])
  assert.match((await printed('yaml')).join('\n'), /^- name: edge\n {2}tunnel: open\n/)
  const [json = ''] = await printed('json')
  assert.equal(JSON.parse(json)[0].agents[0].agent.version, version)
  // The command prints rows again when they change.
  const seen: string[] = []
  const stop = new AbortController()
  const twice = Promise.withResolvers<void>()
  const watching = runAll(stop.signal, [
    (scope) =>
      followStates(
        fleet.admin,
        async (states) => {
          for (const { name, tunnel, lastEnd } of states) {
            seen.push(`${name} ${tunnel} ${lastEnd?.reason ?? ''}`)
          }
          if (seen.some((each) => each.includes('closed'))) twice.resolve()
        },
        deps,
        scope,
      ),
  ]).catch((error: unknown) => assert.ok(stop.signal.aborted, String(error)))
  await until(() => seen.length > 0, soon())
  await all.agent[Symbol.asyncDispose]()
  await twice.promise
  stop.abort()
  await watching
  assert.equal(seen[0], 'edge open ')
  assert.equal(seen.at(-1), 'edge closed the agent stops')
  // The command itself works on the hub's machine, too.
  const path = join(fleet.directory, 'admin.kubeconfig')
  await writeAdminKubeconfig(fleet.hub.plane.pki, { path, name: 'hub', server: fleet.url })
  const program = join(root, 'cmd', 'skerry.ts')
  const words = ['cluster', 'list', '-o', 'wide', '--data-dir', fleet.directory]
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...words])
  assert.match(stdout, /^NAME .*\nedge +\w+ +closed .* ago: the agent stops\n$/)
})

test('one id of a request is in every log from the client to the cluster', async () => {
  const hubLog: Record<string, unknown>[] = []
  const agentLog: Record<string, unknown>[] = []
  const into = (lines: Record<string, unknown>[]) =>
    createLogger({
      level: 'debug',
      destination: { write: (line) => void lines.push(JSON.parse(line)) },
    })
  await using all = await startFleet({ log: into(hubLog), agentLog: into(agentLog) })
  const { fleet } = all
  const auditId = 'trace.7f3a:42-b_c'
  const answer = await ask(fleet, '/clusters/edge/version', { headers: { 'audit-id': auditId } })
  assert.deepEqual([answer.status, answer.headers['audit-id']], [200, auditId])
  const find = (lines: Record<string, unknown>[], message: string, id: string) =>
    lines.find((line) => line['message'] === message && line['auditId'] === id)
  assert.equal(find(hubLog, 'Cluster answered', auditId)?.['cluster'], 'edge')
  assert.equal(find(agentLog, 'Request answered', auditId)?.['status'], 200)
  const line = await until(async () => {
    const lines = await auditedLines(fleet)
    return lines.find((each) => each.includes(auditId))
  })
  assert.equal(JSON.parse(line).auditID, auditId)
  // A service of the edge is asked for by the same name.
  const service = await ask(fleet, '/clusters/edge/services/shop/web:80/', {
    headers: { 'audit-id': 's-1' },
  })
  assert.deepEqual([service.status, service.headers['audit-id']], [403, 's-1'])
  assert.equal(find(hubLog, 'Cluster answered', 's-1')?.['cluster'], 'edge')
  assert.equal(find(agentLog, 'Service not reached', 's-1')?.['service'], 'shop/web:80')
  // The hub ignores an id that does not fit a log line.
  for (const odd of ['a b', 'x'.repeat(65), '"}', 'ä', '']) {
    const sent = Buffer.from(odd, 'utf8').toString('latin1')
    const { headers } = await ask(fleet, '/clusters/edge/version', {
      headers: { 'audit-id': sent },
    })
    assert.match(String(headers['audit-id']), /^[0-9a-f-]{36}$/, odd)
  }
  // A failure at the edge names it, too.
  await all.edge[Symbol.asyncDispose]()
  const failed = await ask(fleet, '/clusters/edge/version', { headers: { 'audit-id': 'f-1' } })
  assert.equal(failed.status, 503)
  assert.match(
    JSON.parse(failed.text).message,
    /^Cannot reach the cluster's API server: .*\(request f-1\)$/,
  )
  assert.ok(find(agentLog, 'Local API server did not answer', 'f-1'))
})

/** Names and what they mean, from the tables of the document. */
async function documentedMetrics(prefix: string): Promise<Map<string, string>> {
  const text = await readFile(join(root, 'docs', 'operating.md'), 'utf8')
  const rows = text.matchAll(/^\| `(\w+)(?:\{([\w,]+)\})?` \| (\w+) \| .+ \|$/gm)
  const found = [...rows].map(
    ([, name = '', labels = '', type = '']) => [name, `${type} ${labels}`] as const,
  )
  return new Map(found.filter(([name]) => name.startsWith(prefix)))
}

/** Does the same from the served metrics. Labels are those of the samples, without a histogram's own. */
function servedMetrics(text: string, prefix: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    if (!name.startsWith(prefix)) continue
    const sample = new RegExp(`^${name}(?:_bucket)?\\{([^}]*)\\}`, 'm').exec(text)
    const labels = [...(sample?.[1] ?? '').matchAll(/(\w+)="/g)].map(([, label = '']) => label)
    found.set(name, `${type} ${labels.filter((label) => label !== 'le').join(',')}`)
  }
  return found
}

test('the documented metrics are those that hub and agent serve', async () => {
  await using all = await startFleet()
  const { fleet, agent } = all
  assert.equal((await ask(fleet, '/clusters/edge/version')).status, 200)
  const refused = await ask(fleet, '/clusters/edge/version', { user: { commonName: 'rita' } })
  assert.equal(refused.status, 403)
  const { own } = fleet.hub.connections
  // Each counter with labels has a line once it has counted.
  await own.send('edge', { method: 'GET', path: '/', headers: {} }, soon())
  const apiVersion = 'cluster.karmada.io/v1alpha1'
  const gone = { apiVersion, kind: 'Cluster', metadata: { name: 'gone' } }
  await fleet.admin
    .resource(clusterResource)
    .create({ ...gone, spec: { syncMode: 'Pull' } }, soon())
  assert.equal((await ask(fleet, '/clusters/gone/version')).status, 503)
  const hub = (await ask(fleet, '/metrics')).text
  assert.deepEqual(
    servedMetrics(hub, 'skerry_hub_'),
    await documentedMetrics('skerry_hub_'),
    'docs/operating.md, Metrics',
  )
  assert.deepEqual(
    [...servedMetrics(hub, 'skerry_hub_').keys()].toSorted(),
    Object.values(hubMetricNames).toSorted(),
  )
  for (const line of [
    /^skerry_hub_cluster_connected\{cluster="edge"\} 1$/m,
    /^skerry_hub_tunnels 1$/m,
    /^skerry_hub_tunnel_handshakes_total\{result="accepted"\} 1$/m,
    /^skerry_hub_tunnel_bytes_total\{cluster="edge",direction="in"\} [1-9]\d+$/m,
    /^skerry_hub_request_duration_seconds_count\{class="read"\} [1-9]/m,
    /^skerry_hub_requests_refused_total\{reason="not_connected"\} 1$/m,
    /^skerry_hub_tunnel_rtt_seconds\{cluster="edge"\} [\d.e-]+$/m,
  ]) {
    assert.match(hub, line)
  }
  assert.equal((await ask(fleet, '/metrics', { user: { commonName: 'rita' } })).status, 403)
  const address = { host: '127.0.0.1', port: 0 }
  await using server = await openMetricsServer(address, agent.metrics, silentLogger)
  const base = `http://127.0.0.1:${server.port}`
  const served = await fetch(`${base}/metrics`)
  const text = await served.text()
  assert.equal(served.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  assert.deepEqual(
    servedMetrics(text, 'skerry_agent_'),
    await documentedMetrics('skerry_agent_'),
    'docs/operating.md, Metrics',
  )
  assert.deepEqual(
    [...servedMetrics(text, 'skerry_agent_').keys()].toSorted(),
    Object.values(agentMetricNames).toSorted(),
  )
  assert.match(text, /^skerry_agent_requests_refused_total\{reason="policy"\} 1$/m)
  assert.match(text, /^skerry_agent_tunnel_dials_total\{result="connected"\} 1$/m)
  const statuses = await Promise.all(
    [['/'], ['/metrics', 'POST'], ['/debug/pprof/']].map(async ([path, method = 'GET']) => {
      return (await fetch(`${base}${path}`, { method })).status
    }),
  )
  assert.deepEqual(statuses, [404, 405, 404])
  // A disconnected cluster keeps a line for alerts; one that never connected has none.
  assert.doesNotMatch(hub, /^skerry_hub_cluster_connected\{cluster="gone"\}/m)
  await agent[Symbol.asyncDispose]()
  await untilState(fleet, ({ tunnel }) => tunnel === 'closed')
  const later = (await ask(fleet, '/metrics')).text
  assert.match(later, /^skerry_hub_cluster_connected\{cluster="edge"\} 0$/m)
})

test('the metrics of a hub show the queues of its controllers', async () => {
  await using fleet = await startTestHub()
  const text = await until(async () => {
    const { text: found } = await ask(fleet, '/metrics')
    return /^workqueue_adds_total\{name="serviceaccount-controller"\} [1-9]/m.test(found) && found
  }, soon())
  assert.match(text, /^workqueue_depth\{name="namespace-controller"\} \d/m)
  assert.match(text, /^workqueue_depth\{name="garbage-collector-controller"\} \d/m)
})
