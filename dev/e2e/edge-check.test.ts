/** Checks machines without making anything, then makes a cluster behind a proxy, with a mirror and an add-on. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { startTestMachine, whyNoMachine, type TestHost, type TestMachine } from '@skerry/testing'
import { EdgeHub } from './edge-hub.ts'
import { assertKeepsSecrets } from './keeps-secrets.ts'
import { changedBetween, leftOvers } from './left-overs.ts'
import { whyNot } from './prerequisites.ts'

const skip = (await whyNot()) || (await whyNoMachine())
const name = 'branch-7'
const namespace = 'edges'
const program = '/usr/local/bin/skerry'
const balancer = 'api.branch.example'
/** The address of the interface by which the cluster knows its machine; SSH uses another one. */
const uplink = '10.80.0.5'
const proxyUser = 'site'
/** It has characters that URLs, systemd and shells read as something else. */
const proxyPassword = `pr0xy p@ss:'"$%/\\`

test('machines that are checked first', { skip, timeout: 400_000 }, async (t) => {
  await using hub = await EdgeHub.start()
  const id = process.pid.toString(36)
  const hosts = [await hub.network.addHost(11), await hub.network.addHost(12)] as const
  const outside = await hub.network.addHost(2)
  await using first = await startTestMachine(hosts[0], `fit-${id}`)
  await using second = await startTestMachine(hosts[1], `unfit-${id}`)
  await second.ask(['chpasswd'], { input: `root:${first.passwords.root}\n` })
  const all: Story = { hub, first, second, proxy: await startProxy(outside), outside }
  await t.test('a check names the findings of each machine and changes nothing', () => checks(all))
  await t.test('a proxy, a mirror, an add-on and the size of nodes work', () => makes(all))
  await t.test('another proxy reaches containerd, and pods go on', () => changesProxy(all))
  await t.test('an add-on that is taken from the object is taken from the cluster', () =>
    prunes(all),
  )
  await t.test('a cluster that is deleted on the hub alone goes on without it', () => keeps(all))
  await t.test('no password of the proxy or of a machine is written anywhere', () =>
    keepsPassword(all),
  )
})

interface Story {
  readonly hub: EdgeHub
  readonly first: TestMachine
  readonly second: TestMachine
  readonly proxy: Proxy
  readonly outside: TestHost
}

interface Proxy {
  readonly url: string
  /** A line for each request that was passed on. */
  readonly passed: string[]
}

async function startProxy(host: TestHost): Promise<Proxy> {
  const script = join(import.meta.dirname, 'connect-proxy-process.ts')
  const login = { PROXY_LOGIN: `${proxyUser}:${proxyPassword}` }
  const lines = linesOf(host, [process.execPath, script, host.address], login)
  const [port] = await once(lines, 'line', { signal: AbortSignal.timeout(30_000) })
  const passed: string[] = []
  lines.on('line', (line) => passed.push(line))
  return { url: `http://${host.address}:${port}`, passed }
}

async function startMirror(host: TestHost): Promise<string> {
  const script = join(import.meta.dirname, 'registry-process.ts')
  const lines = linesOf(host, [process.execPath, script, 'none', '', '', host.address])
  const [port] = await once(lines, 'line', { signal: AbortSignal.timeout(30_000) })
  return `http://${host.address}:${port}`
}

function linesOf(
  host: TestHost,
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
) {
  const env = { ...process.env, ...more }
  const child = host.start(words, { stdio: ['ignore', 'pipe', 'inherit'], env })
  if (child.stdout === null) throw new Error('Cannot start a process of the test: no output')
  return createInterface({ input: child.stdout })
}

/** The answer of `--check -o json`. */
interface Checked {
  readonly machines: readonly { readonly state: string; readonly findings?: readonly string[] }[]
  readonly plan: readonly { readonly step: string; readonly machines: readonly string[] }[]
}

async function checks({ hub, first, second }: Story): Promise<void> {
  await second.ask(['mkdir', '/etc/kubernetes'])
  await second.ask(['touch', '/etc/kubernetes/kubelet.conf'])
  const socket = ['--unit', 'taken', '--socket-property=ListenStream=10250']
  await second.ask(['systemd-run', '--quiet', ...socket, 'true'])
  await hub.apply(
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
  )
  await hub.setSecret('root-login', { password: first.passwords.root })
  const before = [await leftOvers(first), await leftOvers(second)]
  const machines = [first, second].flatMap(({ address }) => ['--machine', address])
  const words = ['-n', namespace, ...machines, '--credentials', 'root-login', '--check']
  const create = ['create', 'edge-cluster', name, ...words, '--accept-new-host-keys']
  const { exitCode, stdout, stderr } = await hub.skerry(...create, '-o', 'json')
  assert.equal(exitCode, 1, stderr)
  assert.match(stderr, new RegExp(`1 of 2 machines are not fit: ${second.address}`))
  // The program's own answer; the assertions below would fail without its fields.
  const checked = JSON.parse(stdout) as Checked
  assert.deepEqual(
    checked.machines.map(({ state }) => state),
    ['Checked', 'Failed'],
  )
  const findings = checked.machines[1]?.findings ?? []
  assert.equal(findings.length, 2, findings.join('\n'))
  assert.match(findings.join('\n'), /kubelet\.conf is of another Kubernetes: remove/)
  assert.match(findings.join('\n'), /another program listens on port 10250: stop it/)
  const [step] = checked.plan.filter((each) => each.step === 'InstallProgram')
  assert.deepEqual(step?.machines, [first.address, second.address])
  assert.equal((await hub.tryKubectl(['get', 'edgeclusters', '-A', '-o', 'name'])).stdout, '')
  const after = [await leftOvers(first), await leftOvers(second)]
  const changes = after.map((list, index) => changedBetween(before[index] ?? [], list))
  assert.deepEqual(changes, [[], []])
}

async function makes(story: Story): Promise<void> {
  const { hub, first, proxy, outside } = story
  const endpoint = await startMirror(outside)
  await hub.setSecret('proxy-login', { username: proxyUser, password: proxyPassword })
  const ip = (...words: string[]) => first.ask(['ip', ...words])
  await ip('link', 'add', 'uplink', 'type', 'bridge')
  await ip('address', 'add', `${uplink}/24`, 'dev', 'uplink')
  await ip('link', 'set', 'uplink', 'up')
  const capacity = 'jsonpath={.status.capacity}'
  const dry = ['create', '-f', '-', '--dry-run=server', '-o', capacity]
  const told = await hub.tryKubectl(dry, { input: manifest(story, endpoint) })
  assert.match(told.stdout, /^at most 1024 nodes with 30 pods each/, told.stderr)
  await hub.apply(manifest(story, endpoint))
  await hub.untilPhase('Checked')
  const made = await hub.skerry('edge-cluster', 'make', name, '-n', namespace)
  assert.equal(made.exitCode, 0, made.stderr)
  const explained = await hub.kubectl('explain', 'edgecluster.spec.network.podsPerNode')
  assert.match(explained, /How many pods a node runs at most/)
  const edge = await hub.untilPhase('Ready')
  assert.match(edge.status.capacity ?? '', /^at most 1024 nodes with 30 pods each/)
  const node = edge.status.machines[0]?.node ?? ''
  const range = await hub.siteKubectl('get', 'node', node, '-o', 'jsonpath={.spec.podCIDR}')
  assert.match(range, /^10\.70\.\d+\.\d+\/26$/)
  const own = 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}'
  assert.equal(await hub.siteKubectl('get', 'node', node, '-o', own), uplink)
  const pods = await hub.siteKubectl('get', 'node', node, '-o', 'jsonpath={.status.capacity.pods}')
  assert.equal(pods, '30')
  const { host } = new URL(hub.server)
  assert.ok(proxy.passed.includes(`CONNECT ${host}`), 'the site reaches the hub by the proxy')
  const cell = await hub.siteKubectl('get', 'configmap', 'greeting', '-n', 'shop', '-o', 'name')
  assert.equal(cell.trim(), 'configmap/greeting')
  await hub.siteKubectl('wait', '--for=condition=Ready', 'pod/app', '-n', 'shop', '--timeout=60s')
  assert.ok(proxy.passed.includes(`GET ${new URL(endpoint).host}`), 'images come by the proxy')
  const look =
    'busybox nslookup kubernetes.default.svc.branch.example; busybox cat /etc/resolv.conf'
  const names = await hub.siteKubectl('exec', 'app', '-n', 'shop', '--', 'sh', '-c', look)
  assert.match(names, /Address: +10\.60\.0\.1\b/)
  assert.match(names, /^search shop\.svc\.branch\.example /m)
  assert.equal(await first.ask(['cat', '/root/hooks.log']), 'before\nafter\n')
  const config = await first.ask(['skerry', 'kubeconfig', '--site-dir', '/var/lib/skerry/site'])
  assert.ok(config.includes(`server: https://${balancer}:8443`), 'clients get the balancer')
  await aptGoesByProxy(story)
  const shown = await hub.skerry('edge-cluster', 'get', name, '-n', namespace)
  assert.match(shown.stdout, new RegExp(`^${first.address} +Master +${node} +Ready`, 'm'))
}

/** The mirror does not exist: the proxy has been asked for it, with the login. */
async function aptGoesByProxy({ first, proxy }: Story): Promise<void> {
  const line = 'deb [trusted=yes] http://mirror.invalid/debian stable main'
  await first.ask(['sh', '-c', 'cat > /root/mirror.list'], { input: `${line}\n` })
  const places = [
    '-o',
    'Dir::Etc::SourceParts=/none',
    '-o',
    'Dir::Etc::SourceList=/root/mirror.list',
  ]
  await first.run(['env', 'APT_CONFIG=/etc/skerry/apt.conf', 'apt-get', ...places, 'update'])
  await first.ask(['rm', '/root/mirror.list'])
  assert.ok(proxy.passed.includes('GET mirror.invalid'), proxy.passed.join('\n'))
}

/** The image is of a registry that does not exist: only its mirror has it. */
function manifest({ hub, first, proxy }: Story, endpoint: string): string {
  const addOn = `
apiVersion: v1
kind: ConfigMap
metadata: { name: greeting, namespace: shop }
data: { text: hello }
---
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: v1
kind: Pod
metadata: { name: app, namespace: shop }
spec:
  containers: [{ name: app, image: 'registry.invalid/edge/app:v1' }]
`
  const textsOf = (configMap: string, data: Readonly<Record<string, string>>) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: configMap, namespace },
    data,
  })
  const scripts = {
    before: `#!/bin/sh -e\ntest ! -e ${program}\necho before >>/root/hooks.log\n`,
    after: `#!/bin/sh -e\n${program} --version\necho after >>/root/hooks.log\n`,
  }
  const edge = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name, namespace },
    spec: {
      mode: 'Check',
      hubServer: hub.server,
      networkInterface: 'uplink',
      network: {
        podsPerNode: 30,
        podCIDR: '10.70.0.0/16',
        serviceCIDR: '10.60.0.0/16',
        dnsDomain: 'branch.example',
      },
      proxy: { httpProxy: proxy.url, httpsProxy: proxy.url, credentials: { name: 'proxy-login' } },
      registries: [{ host: 'registry.invalid', endpoints: [endpoint] }],
      addons: [{ configMap: 'shop', key: 'shop.yaml' }],
      hooks: [
        { when: 'AfterInstall', configMap: 'hooks', key: 'after' },
        { when: 'BeforeInstall', configMap: 'hooks', key: 'before' },
      ],
      highAvailability: { type: 'Balancer', address: balancer, port: 8443 },
      machines: [
        {
          addresses: [first.address],
          role: 'Master',
          acceptNewHostKeys: true,
          credentials: { name: 'root-login' },
        },
      ],
    },
  }
  const items = [textsOf('shop', { 'shop.yaml': addOn }), textsOf('hooks', scripts), edge]
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
}

async function changesProxy({ hub, first }: Story): Promise<void> {
  const started = ['get', 'pod', 'app', '-n', 'shop', '-o']
  const path = 'jsonpath={.status.containerStatuses[0].state.running.startedAt}'
  const before = await hub.siteKubectl(...started, path)
  await hub.patchSpec({ proxy: { noProxy: ['.example.org'] } })
  const environment = 'tr "\\0" "\\n" < /proc/$(pgrep -x containerd)/environ'
  await hub.until('containerd to have the new environment', async () => {
    const { stdout } = await first.run(['sh', '-c', environment])
    return /^NO_PROXY=.*,\.example\.org$/m.test(stdout)
  })
  await hub.untilPhase('Ready')
  assert.equal(await hub.siteKubectl(...started, path), before)
}

async function prunes({ hub, first }: Story): Promise<void> {
  await hub.patchSpec({ addons: [] })
  await hub.until('the add-on to go', async () => {
    const found = hub.step(await hub.edge(), 'ApplyAddOns', first)
    return found.state === 'Done' && /0 objects are applied, 3 were removed/.test(found.message)
  })
}

async function keeps({ hub, first }: Story): Promise<void> {
  const node = (await hub.edge()).status.machines[0]?.node ?? ''
  const since = 'ActiveEnterTimestampMonotonic'
  const units = ['systemctl', 'show', '--value', `--property=ActiveState,${since}`] as const
  const roles = ['skerry-site', 'skerry-node']
  const before = await first.ask([...units, ...roles])
  const choice = ['--keep-machines', '--wait']
  const gone = await hub.skerry('edge-cluster', 'delete', name, '-n', namespace, ...choice)
  assert.equal(gone.exitCode, 0, gone.stderr)
  assert.equal((await hub.tryKubectl(['get', 'cluster', name])).exitCode, 1)
  assert.match(before, /^active$/m)
  assert.equal(await first.ask([...units, ...roles]), before, 'its roles were not started again')
  await first.ask(['skerry', 'machine', 'node-ready', node])
}

async function keepsPassword({ hub, first, second }: Story): Promise<void> {
  const secrets = [proxyPassword, encodeURIComponent(proxyPassword), first.passwords.root]
  await assertKeepsSecrets(hub, [first, second], secrets)
  const command = ['setpriv', '--reuid=65534', 'sh', '-c', 'cat /etc/skerry/* 2>/dev/null; true']
  const readable = await first.ask(command)
  for (const secret of secrets) assert.ok(!readable.includes(secret), 'other users read a secret')
}
