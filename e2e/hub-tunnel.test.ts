/** From the cloud side: kubectl against the hub reaches pods of a cluster that only dialled out. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import type { CommandResult, RunOptions, TestHost } from '@skerry/testing'
import { ClusterOnHosts } from './cluster-on-hosts.ts'
import { whyNot } from './prerequisites.ts'
import { RoleProcess, skerryCommand, skerryEnv } from './role-process.ts'

const cloudHostNumber = 3

const manifest = `
apiVersion: v1
kind: Pod
metadata: { name: beacon, namespace: default, labels: { app: beacon } }
spec:
  containers:
    - name: beacon
      image: skerry-examples/guestbook:v1
      command: [sh, -c, 'mkdir /tmp/www && echo lit > /tmp/www/lamp && httpd -p 8080 -h /tmp/www; n=0; while true; do echo flash $n; n=$((n+1)); sleep 1; done']
`

test('a cluster through its tunnel', { skip: await whyNot(), timeout: 400_000 }, async (t) => {
  await using cluster = await ClusterOnHosts.start()
  await cluster.addNode(1)
  const cloud = await startCloud(cluster)
  await t.test('apply and wait', () => appliesPod(cloud))
  await t.test('logs, also as they come', () => readsLogs(cloud))
  for (const env of [{}, spdy]) {
    const protocol = env === spdy ? 'SPDY' : 'WebSocket'
    await t.test(`exec over ${protocol}: input, its end, exit code`, () => executes(cloud, env))
    await t.test(`port-forward over ${protocol}`, () => forwardsPort(cloud, env))
  }
  await t.test('top: the node and the pod', () => showsUsage(cloud))
  await t.test('cp of 100 MB there and back', () => copies(cloud))
  await t.test('a pulled cable is told, and heals by itself', () => heals(cluster, cloud))
})

/** Clients before 1.30 speak only this. */
const spdy = {
  KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false',
  KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false',
}

interface Cloud {
  cluster: ClusterOnHosts
  host: TestHost
  command: (args: readonly string[]) => string[]
  tryKubectl: (args: readonly string[], options?: RunOptions) => Promise<CommandResult>
  kubectl: (...args: string[]) => Promise<string>
}

/** A hub on a host of its own, the site's agent connected to it, and kubectl beside the hub. */
async function startCloud(cluster: ClusterOnHosts): Promise<Cloud> {
  const host = await cluster.host(cloudHostNumber)
  const directory = join(cluster.directory, 'hub')
  const server = `https://${host.address}:7443`
  const role = (name: string, on: TestHost, args: readonly string[]) =>
    new RoleProcess({
      host: on,
      name,
      command: [...skerryCommand, ...args],
      logFile: join(cluster.directory, `${name}.log`),
    })
  await role('hub', host, ['hub', '--data-dir', directory]).start()
  const admin = join(directory, 'admin.kubeconfig')
  await cluster.waitFor('the hub to serve', () => readFile(admin, 'utf8'))
  const joining = ['cluster', 'join-command', 'edge', '--data-dir', directory, '--server', server]
  const printed = await host.run([...skerryCommand, ...joining, '-o', 'json'], {
    env: skerryEnv,
    timeoutMs: 60_000,
  })
  assert.equal(printed.exitCode, 0, printed.stderr)
  const { token, caHash } = JSON.parse(printed.stdout)
  const tokenFile = join(cluster.directory, 'agent.token')
  await writeFile(tokenFile, token)
  const toHub = [
    'agent',
    '--hub',
    server,
    '--name',
    'edge',
    '--token-file',
    tokenFile,
    '--ca-hash',
    caHash,
  ]
  const toSite = [
    '--kubeconfig',
    cluster.kubeconfig,
    '--data-dir',
    join(cluster.directory, 'agent'),
  ]
  await role('agent', cluster.siteHost, [...toHub, ...toSite]).start()
  const kubeconfig = join(cluster.directory, 'edge.kubeconfig')
  const text = await readFile(admin, 'utf8')
  await writeFile(kubeconfig, text.replace(/server: .*/, `server: ${server}/clusters/edge`))
  const [program = ''] = cluster.kubectlCommand([])
  const command = (args: readonly string[]) => [program, '--kubeconfig', kubeconfig, ...args]
  const env = { HOME: cluster.directory, KUBECACHEDIR: join(cluster.directory, 'cloud-cache') }
  const tryKubectl = (args: readonly string[], options: RunOptions = {}) =>
    host.run(command(args), { timeoutMs: 120_000, ...options, env: { ...env, ...options.env } })
  const cloud: Cloud = {
    cluster,
    host,
    command,
    tryKubectl,
    async kubectl(...args) {
      const { exitCode, stdout, stderr } = await tryKubectl(args)
      assert.equal(exitCode, 0, `kubectl ${args.join(' ')}: ${stderr}`)
      return stdout
    },
  }
  await cluster.waitFor('the tunnel to open', async () =>
    (await tryKubectl(['get', '--raw', '/readyz'])).stdout === 'ok' ? true : undefined,
  )
  return cloud
}

async function appliesPod({ tryKubectl, kubectl }: Cloud): Promise<void> {
  const applied = await tryKubectl(['apply', '-f', '-'], { input: manifest })
  assert.equal(applied.stdout, 'pod/beacon created\n', applied.stderr)
  await kubectl('wait', 'pod/beacon', '--for=condition=Ready', '--timeout=90s')
}

async function showsUsage({ cluster, kubectl }: Cloud): Promise<void> {
  const pod = await cluster.waitFor('top to know the pod', () => kubectl('top', 'pod', 'beacon'))
  assert.match(pod, /^beacon +\d+m +\d+Mi/m)
  assert.match(await kubectl('top', 'node', '--no-headers'), /^node-\S+ +\d+m +\d+% +\d+Mi/)
}

async function readsLogs({ kubectl, host, command }: Cloud): Promise<void> {
  assert.match(await kubectl('logs', 'beacon'), /^flash 0\n/)
  const child = host.start(command(['logs', '-f', 'beacon', '--tail=1']), {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  assert.ok(child.stdout)
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (lines.length === 3) break
  }
  child.kill('SIGTERM')
  await exited
  const numbers = lines.map((line) => Number(line.replace('flash ', '')))
  assert.deepEqual(
    numbers,
    [0, 1, 2].map((step) => (numbers[0] ?? NaN) + step),
  )
}

async function executes({ tryKubectl }: Cloud, env: Record<string, string>): Promise<void> {
  const input = 'to be counted\n'.repeat(10_000)
  const counted = await tryKubectl(['exec', '-i', 'beacon', '--', 'busybox', 'wc', '-c'], {
    input,
    env,
  })
  assert.equal(counted.stdout.trim(), String(input.length), counted.stderr)
  const failed = await tryKubectl(['exec', 'beacon', '--', 'sh', '-c', 'echo no >&2; exit 7'], {
    env,
  })
  assert.equal(failed.exitCode, 7)
  const told = await tryKubectl(['exec', '-v=8', 'beacon', '--', 'true'], { env })
  const isWebSocket = env !== spdy
  assert.equal(/subprotocol is v5\.channel\.k8s\.io/.test(told.stderr), isWebSocket, told.stderr)
  assert.doesNotMatch(told.stderr, /fallback/i)
  assert.match(failed.stderr, /^no\n/)
}

async function forwardsPort(cloud: Cloud, env: Record<string, string>): Promise<void> {
  const { host, command } = cloud
  const child = host.start(command(['port-forward', 'beacon', ':8080']), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const exited = once(child, 'exit')
  assert.ok(child.stdout)
  let port: string | undefined
  for await (const line of createInterface({ input: child.stdout })) {
    port = /Forwarding from 127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    if (port !== undefined) break
  }
  for (let time = 0; time < 3; time++) {
    const url = `http://127.0.0.1:${port}/lamp`
    const { stdout } = await host.run(['busybox', 'wget', '-q', '-O', '-', url])
    assert.equal(stdout, 'lit\n')
  }
  child.kill('SIGTERM')
  await exited
}

async function copies({ cluster, kubectl }: Cloud): Promise<void> {
  const bytes = randomBytes(100 * 1024 * 1024)
  const there = join(cluster.directory, 'cargo')
  const back = join(cluster.directory, 'cargo-back')
  await writeFile(there, bytes)
  await kubectl('cp', there, 'beacon:/tmp/cargo')
  const hash = createHash('sha256').update(bytes).digest('hex')
  assert.match(
    await kubectl('exec', 'beacon', '--', 'busybox', 'sha256sum', '/tmp/cargo'),
    new RegExp(hash),
  )
  await kubectl('cp', 'beacon:/tmp/cargo', back)
  assert.equal(
    createHash('sha256')
      .update(await readFile(back))
      .digest('hex'),
    hash,
  )
}

async function heals(cluster: ClusterOnHosts, cloud: Cloud): Promise<void> {
  const readyz = ['get', '--raw', '/readyz']
  await cluster.siteHost.cut()
  await cluster.waitFor(
    'the hub to notice',
    async () => {
      const { stderr } = await cloud.tryKubectl([...readyz, '--request-timeout=3s'])
      return /Cannot reach cluster "edge": /.test(stderr) || undefined
    },
    { timeoutMs: 40_000 },
  )
  await cluster.siteHost.restore()
  await cluster.waitFor(
    'the tunnel to heal',
    async () => (await cloud.tryKubectl(readyz)).stdout === 'ok' || undefined,
    { timeoutMs: 30_000 },
  )
}
