/** Tests that a node goes to a site that was made of a copy of its own, and that its database counts on. */
import assert from 'node:assert/strict'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CommandResult } from '@skerry/testing'
import { ClusterOnHosts, type EdgeNode, type JoinToken } from './cluster-on-hosts.ts'
import { fetchPage, type Page } from './guestbook-page.ts'
import { whyNot } from './prerequisites.ts'
import { RoleProcess, skerryCommand, skerryEnv } from './role-process.ts'
import { runningTasks } from './running-tasks.ts'

const manifest = join(import.meta.dirname, '../..', 'examples', 'guestbook', 'guestbook.yaml')

test(
  'a node goes to another site, its database counts on, and it refuses to go where pods would end',
  { skip: await whyNot(), timeout: 400_000 },
  async () => {
    await using cluster = await ClusterOnHosts.start()
    const node = await cluster.addNode(2)
    const client = await cluster.host(3)
    const fetch = (): Promise<Page> => fetchPage(client, `${node.host.address}:30080`)
    await cluster.kubectl('apply', '-f', manifest)
    for (const name of ['statefulset/redis', 'deployment/web']) {
      await cluster.kubectl('rollout', 'status', '-n', 'guestbook', name, '--timeout=60s')
    }
    const before = await cluster.waitFor('the page', fetch)
    const tasks = await runningTasks(node.host)
    await cluster.site.stop()
    const other = await startCopy(cluster)
    const moved = await moveNode(cluster, node, await other.createToken())
    assert.equal(moved.exitCode, 0, moved.stderr)
    await node.role.stop()
    // With the options of its first start, which name the site that it left.
    await node.role.start()
    await cluster.waitFor('the other site to hear of the node', async () => {
      const heard = await other.kubectl('get', 'csr', '-o', 'name')
      return heard.split('\n').length > 3 ? true : undefined
    })
    await other.kubectl('wait', `node/${node.name}`, '--for=condition=Ready', '--timeout=60s')
    await other.kubectl('scale', '-n', 'guestbook', 'deployment/web', '--replicas=3')
    const rollout = ['rollout', 'status', '-n', 'guestbook', 'deployment/web', '--timeout=90s']
    await other.kubectl(...rollout)
    const after = await fetch()
    assert.equal(after.visits, before.visits + 1)
    const running = await runningTasks(node.host)
    const gone = [...tasks].filter((task) => !running.has(task))
    assert.deepEqual(gone, [], 'containers that ran before')
    await cluster.site.start()
    await cluster.untilServing()
    const back = await moveNode(cluster, node, await cluster.createToken())
    assert.match(back.stderr, /these pods are missing, and would end here: guestbook\/web-/)
  },
)

async function moveNode(
  cluster: ClusterOnHosts,
  { name, host }: EdgeNode,
  { server, token, caHash }: JoinToken,
): Promise<CommandResult> {
  const tokenFile = join(cluster.directory, 'move.token')
  await writeFile(tokenFile, token)
  const joining = ['--server', server, '--token-file', tokenFile, '--ca-hash', caHash]
  const place = ['--data-dir', join(cluster.directory, name), '--node-name', name]
  const move = [...skerryCommand, 'machine', 'move-node', ...joining, ...place]
  return host.run(move, { env: skerryEnv, timeoutMs: 60_000 })
}

interface OtherSite {
  kubectl(...args: string[]): Promise<string>
  createToken(): Promise<JoinToken>
}

/** Starts a site with keys of its own on a copy of the stopped site's store, on another host. */
async function startCopy(cluster: ClusterOnHosts): Promise<OtherSite> {
  const host = await cluster.host(4)
  const directory = join(cluster.directory, 'other')
  const file = join(cluster.directory, 'snapshot.db')
  await cluster.skerry('store', 'export', file, '--data-dir', cluster.siteDirectory)
  await cluster.skerry('store', 'import', file, '--data-dir', directory)
  await mkdir(join(directory, 'pki'), { mode: 0o700 })
  const keys = join('pki', 'encryption.yaml')
  await copyFile(join(cluster.siteDirectory, keys), join(directory, keys))
  // With the key of Secrets there, only the authority is a new one.
  const command = [...skerryCommand, 'site', '--data-dir', directory, '--new-encryption-key']
  const logFile = join(cluster.directory, 'other.log')
  const role = new RoleProcess({ host, name: 'other', command, logFile })
  cluster.roles.push(role)
  await role.start()
  const run = async (args: readonly string[], env: Readonly<Record<string, string>>) => {
    const { exitCode, stdout, stderr } = await host.run(args, { env, timeoutMs: 120_000 })
    assert.equal(exitCode, 0, `${args.join(' ')}: ${stderr}`)
    return stdout
  }
  const kubeconfig = join(directory, 'admin.kubeconfig')
  const [program = 'kubectl'] = cluster.kubectlCommand([])
  const other: OtherSite = {
    kubectl: (...args) => run([program, '--kubeconfig', kubeconfig, ...args], cluster.kubectlEnv),
    createToken: async () => {
      const create = ['token', 'create', '--data-dir', directory, '-o', 'json']
      // The program's own JSON; the join fails without its fields.
      return JSON.parse(await run([...skerryCommand, ...create], skerryEnv)) as JoinToken
    },
  }
  await cluster.waitFor('the other site to serve', async () => {
    const ready = await host.run([program, '--kubeconfig', kubeconfig, 'get', '--raw', '/readyz'], {
      env: cluster.kubectlEnv,
      timeoutMs: 10_000,
    })
    return ready.stdout === 'ok' ? true : undefined
  })
  return other
}
