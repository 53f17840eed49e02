/** Three masters in three hosts on one etcd, and a node that uses whichever lives. */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { whyNoEtcd, type TestHost } from '@skerry/testing'
import { ClusterOnHosts, type EdgeNode } from './cluster-on-hosts.ts'
import { containerStates } from './container-states.ts'
import type { LoadReport } from './masters-load.ts'
import { echoManifest } from './echo-manifest.ts'
import { kubectlAt, tryKubectlAt } from './masters-on-hosts.ts'
import { whyNot } from './prerequisites.ts'
import { RoleProcess, skerryCommand } from './role-process.ts'
import { waitFor } from './wait-for.ts'

const etcdHostNumber = 4
const nodeHostNumber = 5
const clientHostNumber = 6

interface Master {
  readonly host: TestHost
  readonly role: RoleProcess
  readonly dataDir: string
  readonly url: string
}

test(
  'three masters',
  { skip: (await whyNot()) || (await whyNoEtcd()), timeout: 300_000 },
  async (t) => {
    let endpoint = ''
    await using cluster = await ClusterOnHosts.start({
      async siteFlags(place) {
        endpoint = await startEtcd(await place.host(etcdHostNumber), place.directory)
        return ['--etcd-servers', endpoint]
      },
    })
    const masters = await startMasters(cluster, endpoint)
    const node = await joinNode(cluster, masters)
    await t.test('each master is an endpoint of the service kubernetes', () =>
      untilEndpoints(cluster, masters, masters),
    )
    await t.test(
      'each master opens sessions, asks webhooks, and knows the tokens of the others',
      () => asksEach(cluster, masters),
    )
    await t.test('pods, watches, writes and controllers survive the death of the leader', () =>
      killLeader(cluster, masters, node),
    )
  },
)

/** A member without certificates, in a host of its own. */
async function startEtcd(host: TestHost, directory: string): Promise<string> {
  const url = `http://${host.address}:2379`
  const peer = `http://${host.address}:2380`
  const flags = {
    'data-dir': join(directory, 'etcd'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
    'log-level': 'error',
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  host.start(['/usr/bin/etcd', ...args], { stdio: 'ignore' })
  return url
}

async function startMasters(cluster: ClusterOnHosts, endpoint: string): Promise<Master[]> {
  const first: Master = {
    host: cluster.siteHost,
    role: cluster.site,
    dataDir: cluster.siteDirectory,
    url: `https://${cluster.siteHost.address}:6443`,
  }
  const others = await Promise.all([2, 3].map((number) => startMaster(cluster, number, endpoint)))
  return [first, ...others]
}

async function startMaster(
  cluster: ClusterOnHosts,
  number: number,
  endpoint: string,
): Promise<Master> {
  const host = await cluster.host(number)
  const dataDir = join(cluster.directory, `master-${number}`)
  await mkdir(dataDir)
  // An operator copies this one file from the first master's machine.
  const key = join(cluster.directory, `replica-${number}.key`)
  await copyFile(join(cluster.siteDirectory, 'pki', 'replica.key'), key)
  const flags = ['--data-dir', dataDir, '--etcd-servers', endpoint, '--replica-key-file', key]
  const name = `master-${number}`
  const logFile = join(cluster.directory, `${name}.log`)
  const command = [...skerryCommand, 'site', ...flags]
  const role = new RoleProcess({ host, name, command, logFile })
  cluster.roles.push(role)
  await role.start()
  const master = { host, role, dataDir, url: `https://${host.address}:6443` }
  await cluster.waitFor(`${name} to serve`, async () =>
    (await kubectlAt(cluster, master, 'get', '--raw', '/readyz')) === 'ok' ? true : undefined,
  )
  return master
}

async function joinNode(cluster: ClusterOnHosts, masters: readonly Master[]): Promise<EdgeNode> {
  const { token, caHash } = await cluster.createToken()
  const plan = await cluster.planNode(nodeHostNumber)
  const tokenFile = join(cluster.directory, 'joining')
  await writeFile(tokenFile, token)
  // The first address answers nothing: any of several is enough.
  const nobody = `https://${cluster.siteHost.address.replace(/\d+$/, '1')}:6444`
  const servers = [nobody, ...masters.slice(0, 1).map(({ url }) => url)]
  const dialled = servers.flatMap((server) => ['--server', server])
  const joining = [...dialled, '--token-file', tokenFile, '--ca-hash', caHash]
  const node = await cluster.startNode(plan, [...skerryCommand, 'node', ...plan.flags, ...joining])
  await cluster.untilNodeReady(node.name)
  return node
}

async function untilEndpoints(
  cluster: ClusterOnHosts,
  masters: readonly Master[],
  living: readonly Master[],
): Promise<void> {
  const [asked] = living
  assert.ok(asked)
  const wanted = masters.filter((each) => living.includes(each)).map(({ host }) => host.address)
  const path = '{.items[*].endpoints[*].addresses[*]}'
  const selector = 'kubernetes.io/service-name=kubernetes'
  await cluster.waitFor('the endpoints to be those of the masters', async () => {
    const question = ['get', 'endpointslices', '-l', selector, '-o', `jsonpath=${path}`]
    const found = (await kubectlAt(cluster, asked, ...question)).split(' ').toSorted()
    return found.join() === wanted.toSorted().join() ? true : undefined
  })
}

/** Asserts that each master does what another one was told. */
async function asksEach(cluster: ClusterOnHosts, masters: readonly Master[]): Promise<void> {
  await cluster.apply(echoManifest)
  await cluster.kubectl('rollout', 'status', 'deployment/echo', '--timeout=60s')
  await cluster.apply(refusingWebhook)
  const token = await cluster.kubectl('create', 'token', 'default')
  const review = join(cluster.directory, 'review.json')
  await writeFile(review, tokenReview(token.trim()))
  const refused = join(cluster.directory, 'refused.json')
  await writeFile(refused, refusedMap)
  for (const master of masters) {
    const { name } = master.host
    const session = ['exec', 'deployment/echo', '--', 'echo', `hello ${name}`]
    assert.equal(await kubectlAt(cluster, master, ...session), `hello ${name}\n`)
    const path = 'jsonpath={.status.user.username}'
    const user = await kubectlAt(cluster, master, 'create', '-f', review, '-o', path)
    assert.equal(user, 'system:serviceaccount:default:default')
    await cluster.waitFor(`${name} to ask the webhook`, async () => {
      const asked = await tryKubectlAt(cluster, master, 'create', '-f', refused, '--dry-run=server')
      return asked.stderr.includes('failed calling webhook "nobody.example.com"') || undefined
    })
  }
}

/** Nobody answers it, so a request that asks it fails. */
const refusingWebhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: nobody }
webhooks:
  - name: nobody.example.com
    clientConfig: { url: 'https://127.0.0.1:9/nobody' }
    objectSelector: { matchLabels: { asks: nobody } }
    rules:
      - { apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps] }
    sideEffects: None
    admissionReviewVersions: [v1]
`

const refusedMap = JSON.stringify({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'refused', namespace: 'default', labels: { asks: 'nobody' } },
})

function tokenReview(token: string): string {
  const apiVersion = 'authentication.k8s.io/v1'
  return JSON.stringify({ apiVersion, kind: 'TokenReview', spec: { token } })
}

interface Load {
  readonly child: ChildProcess
  readonly lines: string[]
}

/** Runs where only a client is, with the addresses of all masters. */
async function startLoad(cluster: ClusterOnHosts, masters: readonly Master[]): Promise<Load> {
  const host = await cluster.host(clientHostNumber)
  const program = join(import.meta.dirname, 'masters-load.ts')
  const kubeconfig = join(cluster.siteDirectory, 'admin.kubeconfig')
  const command = [process.execPath, program, kubeconfig, ...masters.map(({ url }) => url)]
  const child = host.start(command, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines: string[] = []
  let rest = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    const parts = `${rest}${chunk.toString()}`.split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
  })
  await waitFor('the load to run', async () => (lines.length > 3 ? true : undefined))
  return { child, lines }
}

async function endLoad({ child, lines }: Load): Promise<LoadReport> {
  const ended = once(child, 'exit')
  child.stdin?.end('stop\n')
  await ended
  // The last line is the program's own report.
  return JSON.parse(lines.at(-1) ?? '{}') as LoadReport
}

async function killLeader(
  cluster: ClusterOnHosts,
  masters: readonly Master[],
  node: EdgeNode,
): Promise<void> {
  const before = await containerStates(cluster, '-l', 'app=echo')
  const load = await startLoad(cluster, masters)
  const lease = ['get', 'lease', '-n', 'kube-system', 'kube-controller-manager']
  const holder = await cluster.kubectl(...lease, '-o', 'jsonpath={.spec.holderIdentity}')
  const leader = masters.find(({ host }) => holder.startsWith(`${host.name}_`))
  assert.ok(leader, holder)
  const living = masters.filter((each) => each !== leader)
  const [asked] = living
  assert.ok(asked)
  await leader.role.kill()
  const killedMs = performance.now()
  await kubectlAt(cluster, asked, 'scale', 'deployment/echo', '--replicas=2')
  await cluster.waitFor('the controllers to go on', async () => {
    const pods = await kubectlAt(cluster, asked, 'get', 'pods', '-l', 'app=echo', '-o', 'name')
    return pods.trim().split('\n').length === 2 ? true : undefined
  })
  const tookMs = performance.now() - killedMs
  assert.ok(tookMs < 20_000, `controllers went on after ${Math.round(tookMs)} ms`)
  // The node starts the new pod: it has changed over.
  await kubectlAt(cluster, asked, 'rollout', 'status', 'deployment/echo', '--timeout=60s')
  const path = '{.status.conditions[?(@.type=="Ready")].status}'
  const ready = await kubectlAt(cluster, asked, 'get', 'node', node.name, '-o', `jsonpath=${path}`)
  assert.equal(ready, 'True')
  await untilEndpoints(cluster, masters, living)
  const report = await endLoad(load)
  const { lost, unseen, repeated, leaders, acknowledged } = report
  assert.deepEqual({ lost, unseen, repeated }, { lost: [], unseen: [], repeated: [] })
  assert.ok(acknowledged > 50, `${acknowledged} writes`)
  assert.equal(leaders.length, 2, leaders.join())
  await leader.role.start()
  await untilEndpoints(cluster, masters, [asked, ...masters.filter((each) => each !== asked)])
  const after = await containerStates(cluster, '-l', 'app=echo')
  for (const [name, state] of Object.entries(before)) assert.equal(after[name], state)
}
