/** A cluster's own API from the cloud side, through a tunnel that the edge dialled, and that breaks. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CommandResult, RunOptions, TestHost } from '@skerry/testing'
import { ClusterOnHosts } from './cluster-on-hosts.ts'
import { whyNot } from './prerequisites.ts'
import { RoleProcess, skerryCommand, skerryEnv } from './role-process.ts'

const manifest = `
apiVersion: v1
kind: Pod
metadata: { name: shell, namespace: default }
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: main
      image: skerry-examples/redis:7.0
      command: [sh, -c, 'while true; do date; sleep 1; done']
`

interface Cloud {
  cluster: ClusterOnHosts
  host: TestHost
  directory: string
  agent: RoleProcess
  /** Runs kubectl on the cloud's host: to the hub, and over its tunnel to the edge. */
  kubectl: (args: readonly string[], options?: RunOptions) => Promise<CommandResult>
}

test('the edge from the cloud', { skip: await whyNot(), timeout: 300_000 }, async (t) => {
  await using cluster = await ClusterOnHosts.start()
  await cluster.addNode(1)
  const cloud = await startCloud(cluster)
  await t.test('the printed command connects the cluster', () => connects(cloud))
  await t.test('a file of 100 MB passes, there and back', () => copies(cloud))
  await t.test('a cut link is noticed in time, and heals by itself', () => healsLink(cloud))
  await t.test('a killed agent is back as the same cluster', () => healsAgent(cloud))
})

async function startCloud(cluster: ClusterOnHosts): Promise<Cloud> {
  const host = await cluster.host(5)
  const directory = join(cluster.directory, 'hub')
  const hub = new RoleProcess({
    host,
    name: 'hub',
    command: [...skerryCommand, 'hub', '--data-dir', directory],
    logFile: join(cluster.directory, 'hub.log'),
  })
  cluster.roles.push(hub)
  await hub.start()
  const agent = new RoleProcess({
    host: cluster.siteHost,
    name: 'agent',
    command: await cluster.waitFor('the hub to serve', () =>
      agentCommand(cluster, host, directory),
    ),
    logFile: join(cluster.directory, 'agent.log'),
  })
  cluster.roles.push(agent)
  await agent.start()
  const server = `https://127.0.0.1:7443/clusters/shop-7`
  const [program = ''] = cluster.kubectlCommand([])
  const config = ['--kubeconfig', join(directory, 'admin.kubeconfig'), '--server', server]
  return {
    cluster,
    host,
    directory,
    agent,
    kubectl: (args, options) =>
      host.run([program, ...config, ...args], {
        timeoutMs: 60_000,
        ...options,
        env: { HOME: cluster.directory },
      }),
  }
}

/** Returns the command that `join-command` prints, with the paths of this test. */
async function agentCommand(
  cluster: ClusterOnHosts,
  host: TestHost,
  directory: string,
): Promise<string[]> {
  const create = ['cluster', 'join-command', 'shop-7', '--data-dir', directory, '-o', 'json']
  const { stdout, stderr } = await host.run([...skerryCommand, ...create], { env: skerryEnv })
  if (stdout === '') throw new Error(stderr)
  // The program's own JSON.
  const { server, token, caHash } = JSON.parse(stdout) as Record<string, string>
  const tokenFile = join(cluster.directory, 'agent-token')
  await writeFile(tokenFile, token ?? '')
  const data = ['--data-dir', join(cluster.directory, 'agent'), '--kubeconfig', cluster.kubeconfig]
  const joining = ['--hub', server ?? '', '--token-file', tokenFile, '--ca-hash', caHash ?? '']
  return [...skerryCommand, 'agent', ...joining, '--name', 'shop-7', ...data]
}

async function connects({ cluster, kubectl }: Cloud): Promise<void> {
  // The path needs no discovery: kubectl caches that for minutes, and if a cluster registers between its two
  // requests (404 for /api, then 200 for /apis), kubectl would know no nodes there.
  await cluster.waitFor('the edge to answer through the hub', async () =>
    (await kubectl(['get', '--raw', '/readyz'])).stdout === 'ok' ? true : undefined,
  )
  const nodes = await kubectl(['get', 'nodes'])
  assert.match(nodes.stdout, / Ready /, nodes.stderr)
  await cluster.apply(manifest)
  const ready = await kubectl(['wait', 'pod/shell', '--for=condition=Ready', '--timeout=60s'])
  assert.equal(ready.exitCode, 0, ready.stderr)
  const said = await kubectl(['exec', '-i', 'shell', '--', 'cat'], { input: 'from the cloud' })
  assert.equal(said.stdout, 'from the cloud', said.stderr)
}

async function copies({ cluster, kubectl }: Cloud): Promise<void> {
  const sent = randomBytes(100 * 1024 * 1024)
  const from = join(cluster.directory, 'sent')
  const to = join(cluster.directory, 'received')
  await writeFile(from, sent)
  for (const [source, target] of [
    [from, 'default/shell:/tmp/file'],
    ['default/shell:/tmp/file', to],
  ]) {
    const copied = await kubectl(['cp', source ?? '', target ?? ''])
    assert.equal(copied.exitCode, 0, copied.stderr)
  }
  assert.ok(sent.equals(await readFile(to)))
}

async function isOpen({ host, directory }: Cloud): Promise<boolean> {
  const command = [...skerryCommand, 'cluster', 'list', '--data-dir', directory, '-o', 'json']
  const { stdout, stderr } = await host.run(command, { env: skerryEnv })
  if (stdout === '') throw new Error(stderr)
  // The program's own JSON.
  const clusters = JSON.parse(stdout) as { name: string; tunnel: string }[]
  return clusters.some(({ name, tunnel }) => name === 'shop-7' && tunnel === 'open')
}

async function healsLink(cloud: Cloud): Promise<void> {
  const { cluster, kubectl } = cloud
  assert.ok(await isOpen(cloud))
  await cluster.siteHost.cut()
  const startMs = performance.now()
  await cluster.waitFor('the hub to see that the tunnel is gone', async () =>
    (await isOpen(cloud)) ? undefined : true,
  )
  assert.ok(performance.now() - startMs < 35_000, 'dead links are found in under 30 s')
  const refused = await kubectl(['get', 'nodes'])
  assert.equal(refused.exitCode, 1)
  assert.match(refused.stderr, /shop-7/)
  await cluster.siteHost.restore()
  await answersAgain(cloud)
}

async function healsAgent(cloud: Cloud): Promise<void> {
  await cloud.agent.kill()
  await cloud.agent.start()
  await answersAgain(cloud)
}

async function answersAgain({ cluster, kubectl }: Cloud): Promise<void> {
  await cluster.waitFor('the edge to answer again', async () =>
    (await kubectl(['get', 'pods', 'shell'])).stdout.includes('Running') ? true : undefined,
  )
}
