/** Tests from the cloud's side: kubectl against the hub reaches pods of a cluster that only dialled out. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { startCloud, type Cloud } from './cloud.ts'
import { ClusterOnHosts } from './cluster-on-hosts.ts'
import { whyNot } from './prerequisites.ts'
import { openTerminal } from './terminal.ts'

const manifest = `
apiVersion: v1
kind: Pod
metadata: { name: beacon, namespace: default, labels: { app: beacon } }
spec:
  containers:
    - name: beacon
      image: skerry-examples/guestbook:v1
      command: [sh, -c, 'mkdir /tmp/www && echo lit > /tmp/www/lamp && httpd -p 8080 -h /tmp/www; n=0; while true; do echo flash $n; n=$((n+1)); sleep 1; done']
---
apiVersion: v1
kind: Pod
metadata: { name: parrot, namespace: default }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - name: parrot
      image: skerry-examples/guestbook:v1
      stdin: true
      tty: true
      command: [sh, -c, 'while read -r line; do echo "said: $line"; done']
`

/** Prints changes of its window, and its input; exits with 3. */
const clerk = `
trap 'echo window $(busybox stty size)' WINCH
echo ready
while true; do
  read -r line || continue
  [ "$line" = close ] && exit 3
  echo "noted: $line"
done`

test('a cluster through its tunnel', { skip: await whyNot(), timeout: 400_000 }, async (t) => {
  await using cluster = await ClusterOnHosts.start()
  await cluster.addNode(1)
  const cloud = await startCloud(cluster)
  await t.test('apply and wait', () => appliesPod(cloud))
  await t.test('logs, also as they come', () => readsLogs(cloud))
  for (const env of [{}, spdy]) {
    const protocol = env === spdy ? 'SPDY' : 'WebSocket'
    await t.test(`exec over ${protocol}: input, its end, exit code`, () => executes(cloud, env))
    await t.test(`a terminal over ${protocol}: keys, its size, exit code`, () =>
      opensTerminal(cloud, env),
    )
    await t.test(`attach over ${protocol}, by a terminal`, () => attaches(cloud, env))
    await t.test(`port-forward over ${protocol}`, () => forwardsPort(cloud, env))
  }
  await t.test('whoami: the person, with their groups', () => tellsWho(cloud))
  await t.test('server-side apply: a conflict names the owner of the field', () => conflicts(cloud))
  await t.test('a client that knows HTTP/1.1 only', () => servesHttp1(cloud))
  await t.test('cp of 100 MB there and back', () => copies(cloud))
  // Figures exist some time after the pod does.
  await t.test('top: the node and the pod', () => showsUsage(cloud))
  await t.test('a pulled cable is reported, and heals by itself', () => heals(cluster, cloud))
})

/** The protocol of clients before 1.30. */
const spdy = {
  KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false',
  KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false',
}

async function appliesPod({ tryKubectl, kubectl }: Cloud): Promise<void> {
  const applied = await tryKubectl(['apply', '-f', '-'], { input: manifest })
  assert.equal(applied.stdout, 'pod/beacon created\npod/parrot created\n', applied.stderr)
  await kubectl('wait', 'pod/beacon', 'pod/parrot', '--for=condition=Ready', '--timeout=90s')
}

async function showsUsage({ cluster, kubectl }: Cloud): Promise<void> {
  const pod = await cluster.waitFor('top to know the pod', () => kubectl('top', 'pod', 'beacon'))
  assert.match(pod, /^beacon +\d+m +\d+Mi/m)
  const node = await cluster.waitFor('top to know the node', () =>
    kubectl('top', 'node', '--no-headers'),
  )
  assert.match(node, /^node-\S+ +\d+m +\d+% +\d+Mi/)
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

async function opensTerminal(cloud: Cloud, env: Record<string, string>): Promise<void> {
  const command = cloud.command(['exec', '-it', 'beacon', '--', 'sh', '-c', clerk])
  await using terminal = await openTerminal(cloud.host, command, { env: { ...cloud.env, ...env } })
  await terminal.until(/^ready\r$/m)
  terminal.type('milk\r')
  await terminal.until(/^noted: milk\r$/m)
  await terminal.resize({ rows: 33, columns: 101 })
  await terminal.until(/^window 33 101\r$/m)
  terminal.type('close\r')
  assert.equal(await terminal.ended, 3)
}

async function attaches(cloud: Cloud, env: Record<string, string>): Promise<void> {
  const words = env === spdy ? 'pretty polly' : 'hello'
  const command = cloud.command(['attach', '-it', 'parrot'])
  await using terminal = await openTerminal(cloud.host, command, { env: { ...cloud.env, ...env } })
  await terminal.until(/If you don't see a command prompt, try pressing enter/)
  terminal.type(`${words}\r`)
  await terminal.until(new RegExp(`^said: ${words}\r$`, 'm'))
}

async function tellsWho({ cluster, host, command, env, kubeconfig, directory, skerry }: Cloud) {
  const admin = join(directory, 'admin.kubeconfig')
  const [program = ''] = command([])
  // A user who may read may ask this, although it is a POST.
  const right = ['--verb=get', '--resource=clusters.cluster.karmada.io/proxy']
  for (const args of [
    ['create', 'clusterrole', 'staff', ...right],
    ['create', 'clusterrolebinding', 'staff', '--clusterrole=staff', '--group=staff'],
  ]) {
    const { exitCode, stderr } = await host.run([program, '--kubeconfig', admin, ...args], { env })
    assert.equal(exitCode, 0, stderr)
  }
  const groups = ['--group', 'staff', '--group', 'night-shift']
  const added = await skerry(
    'user',
    'add',
    'olga',
    ...groups,
    '--data-dir',
    directory,
    '-o',
    'json',
  )
  const tokenFile = join(cluster.directory, 'olga.token')
  await writeFile(tokenFile, JSON.parse(added).token, { mode: 0o600 })
  const config = join(cluster.directory, 'olga.kubeconfig')
  const own = (await readFile(kubeconfig, 'utf8'))
    .replace(/client-certificate-data: .*/, `tokenFile: ${tokenFile}`)
    .replace(/\n *client-key-data: .*/, '')
  await writeFile(config, own)
  const asOlga = [program, '--kubeconfig', config]
  const whoami = await host.run([...asOlga, 'auth', 'whoami', '-o', 'json'], { env })
  assert.equal(whoami.exitCode, 0, whoami.stderr)
  const seen = JSON.parse(whoami.stdout).status.userInfo
  assert.equal(seen.username, 'olga')
  assert.deepEqual(seen.groups.toSorted(), ['night-shift', 'staff', 'system:authenticated'])
}

async function conflicts({ tryKubectl }: Cloud): Promise<void> {
  const apply = (manager: string, value: string) => {
    const metadata = { name: 'menu' }
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { soup: value } }
    const how = ['--server-side', `--field-manager=${manager}`]
    return tryKubectl(['apply', ...how, '-f', '-'], { input: JSON.stringify(map) })
  }
  assert.equal((await apply('cook', 'pea')).stdout, 'configmap/menu serverside-applied\n')
  const refused = await apply('waiter', 'bean')
  assert.equal(refused.exitCode, 1)
  assert.match(refused.stderr, /Apply failed with 1 conflict: conflict with "cook": \.data\.soup\n/)
  assert.match(refused.stderr, /--force-conflicts/)
}

async function servesHttp1({ tryKubectl }: Cloud): Promise<void> {
  const env = { DISABLE_HTTP2: '1' }
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'old' } }
  const input = JSON.stringify(map)
  const made = await tryKubectl(['create', '-v=6', '-f', '-'], { input, env })
  assert.match(made.stderr, /HTTP2 has been explicitly disabled/)
  assert.match(made.stdout, /^configmap\/old created$/m)
  // These use a watch, and many requests on one connection.
  const deleted = await tryKubectl(['delete', 'configmap', 'old', '--wait'], { env })
  assert.match(deleted.stdout, /"old" deleted/, deleted.stderr)
  const listed = await tryKubectl(['get', 'all,configmaps', '-A', '--chunk-size=1'], { env })
  assert.match(listed.stdout, /kube-root-ca\.crt/, listed.stderr)
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
