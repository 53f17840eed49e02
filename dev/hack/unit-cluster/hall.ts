import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommandResult } from '@skerry/testing'
import { ClusterOnHosts, type EdgeNode } from '../../e2e/cluster-on-hosts.ts'
import {
  etcdProgram,
  joinMaster,
  startOnEtcd,
  tryKubectlAt,
  type Master,
  type Story,
} from '../../e2e/embedded-masters.ts'
import { startCloud, type Cloud } from '../../e2e/cloud.ts'
import { fetchPage } from '../../e2e/guestbook-page.ts'
import { RoleProcess } from '../../e2e/role-process.ts'
import { runningTasks } from '../../e2e/running-tasks.ts'

const manifest = join(import.meta.dirname, '../../..', 'examples', 'guestbook', 'guestbook.yaml')

const patienceMs = 120_000

/** A site with one unit, `hall`, of three nodes that run a guestbook with a database, and a hub that knows both. */
export class Hall implements AsyncDisposable {
  readonly cluster: ClusterOnHosts
  readonly cloud: Cloud
  /** The first of the unit's nodes, which runs its control plane. */
  readonly server: EdgeNode
  readonly follower: EdgeNode
  readonly third: EdgeNode
  /** The masters of the site, if it has several. */
  readonly masters: readonly Master[]
  #visits = 0

  private constructor(
    parts: Pick<Hall, 'cluster' | 'cloud' | 'server' | 'follower' | 'third' | 'masters'>,
  ) {
    this.cluster = parts.cluster
    this.cloud = parts.cloud
    this.server = parts.server
    this.follower = parts.follower
    this.third = parts.third
    this.masters = parts.masters
  }

  get nodes(): readonly EdgeNode[] {
    return [this.server, this.follower, this.third]
  }

  static async start({ hasMasters = false } = {}): Promise<Hall> {
    await using stack = new AsyncDisposableStack()
    const siteFlags = ['--edge-apps', 'superedge', '--hand-over-units']
    const cluster = stack.use(await ClusterOnHosts.start({ siteFlags: async () => siteFlags }))
    const masters = hasMasters ? await threeMasters(cluster, siteFlags) : []
    const cloud = await startCloud(cluster, { hostNumber: 5 })
    const where = ['--data-dir', cloud.directory, '--server', cloud.server]
    const joining = await cloud.skerry('cluster', 'join-command', 'hall', ...where, '-o', 'json')
    const { token, caHash } = JSON.parse(joining)
    const tokenFile = join(cluster.directory, 'hall.token')
    await writeFile(tokenFile, token)
    const toHub = ['--unit-hub', cloud.server, '--unit-hub-token-file', tokenFile]
    const leading = ['--lead-unit', '--unit-etcd-program', await etcdProgram()]
    const server = await cluster.addNode(2, [...leading, ...toHub, '--unit-hub-ca-hash', caHash])
    const follower = await cluster.addNode(3, leading)
    const third = await cluster.addNode(6, leading)
    for (const { host, name } of [server, follower, third]) {
      const logFile = join(cluster.directory, name, 'unit', 'site.log')
      cluster.roles.push(new RoleProcess({ host, name: `unit-${name}`, command: [], logFile }))
    }
    await cluster.kubectl('apply', '-f', manifest)
    for (const name of ['statefulset/redis', 'deployment/web']) {
      await cluster.kubectl('rollout', 'status', '-n', 'guestbook', name, '--timeout=90s')
    }
    const hall = new Hall({ cluster, cloud, server, follower, third, masters })
    hall.#visits = await cluster.waitFor('the page', () => hall.#visit())
    const owned = stack.move()
    return Object.assign(hall, { [Symbol.asyncDispose]: () => owned.disposeAsync() })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster[Symbol.asyncDispose]()
  }

  /** Rejects unless the containers from before run after the story, and the database has counted each visit. */
  async requireCounting(story: () => Promise<void>): Promise<void> {
    const before = await this.#tasks()
    await story()
    await this.requireVisit()
    assert.deepEqual([...before.difference(await this.#tasks())], [], 'containers that ran before')
  }

  /** Rejects unless the page comes, and the database goes on from the last visit. */
  async requireVisit(): Promise<void> {
    const visits = await this.cluster.waitFor('the page', () => this.#visit())
    assert.ok(visits > this.#visits, `the database counts ${visits} after ${this.#visits}`)
    this.#visits = visits
  }

  async setLevel(autonomyLevel: string): Promise<void> {
    const unit = {
      apiVersion: 'site.superedge.io/v1alpha2',
      kind: 'NodeUnit',
      metadata: { name: 'hall' },
      spec: { nodes: this.nodes.map(({ name }) => name), autonomyLevel },
    }
    await this.until(`the level ${autonomyLevel} to be written`, async () => {
      const input = JSON.stringify(unit)
      return (await this.cluster.tryKubectl(['apply', '-f', '-'], { input })).exitCode === 0
    })
  }

  /** Resolves with a field of the unit's status as a cluster. */
  async status(field: string): Promise<string> {
    const path = `jsonpath={.status.unitClusterStatus.${field}}`
    return this.cluster.kubectl('get', 'nodeunit', 'hall', '-o', path)
  }

  async untilPhase(...phases: readonly string[]): Promise<void> {
    await this.until(`the unit to be ${phases.join(' or ')}`, async () =>
      phases.includes(await this.status('phase')),
    )
  }

  /** Resolves when so many servers of the unit serve, and none is missing. */
  async untilServers(servers: number): Promise<void> {
    await this.until(`the unit to have ${servers} servers`, async () => {
      const hosts = (await this.status('addresses[*].host')).split(' ')
      const message = await this.status('conditions[0].message')
      return hosts.length === servers && message === 'its own control plane acts'
    })
  }

  /** Resolves when no machine but the first has anything of an etcd of the unit. */
  async untilOneServer(): Promise<void> {
    for (const { name } of this.nodes) {
      const path = join(this.cluster.directory, name, 'unit', 'site', 'etcd', 'member.json')
      await this.until(`node ${name} to be without etcd`, async () => {
        return (await this.server.host.run(['test', '-e', path])).exitCode === 1
      })
    }
  }

  /** Resolves when all nodes obey this side. */
  async untilNodes(follows: 'parent' | 'unit'): Promise<void> {
    for (const { name, role } of this.nodes) {
      const path = join(this.cluster.directory, name, 'unit', 'state.json')
      await this.until(`node ${name} to follow its ${follows}`, async () => {
        const { stdout } = await this.server.host.run(['cat', path])
        return role.isRunning && JSON.parse(stdout).node.follows === follows
      })
    }
  }

  async until(what: string, look: () => Promise<boolean>): Promise<void> {
    const found = async (): Promise<true | undefined> => ((await look()) ? true : undefined)
    try {
      await this.cluster.waitFor(what, found, { timeoutMs: patienceMs })
    } catch (error) {
      console.error(`the status of the unit: ${await this.status('conditions[0]')}`)
      throw error
    }
  }

  /** Asks one of the site's masters, on its host. */
  async tryAt(master: Master, ...args: string[]): Promise<CommandResult> {
    return tryKubectlAt(this.cluster, master, ...args)
  }

  /** Asks the unit's own control plane, on its node. */
  async atUnit(...args: string[]): Promise<string> {
    return this.atServer(this.server, ...args)
  }

  async atServer(server: EdgeNode, ...args: string[]): Promise<string> {
    const { cluster } = this
    const kubeconfig = join(cluster.directory, server.name, 'unit', 'site', 'admin.kubeconfig')
    const [program = 'kubectl'] = cluster.kubectlCommand([])
    const env = { ...cluster.kubectlEnv, KUBECACHEDIR: join(cluster.directory, 'unit-cache') }
    const asked = [program, '--kubeconfig', kubeconfig, ...args]
    const answer = await server.host.run(asked, { env, timeoutMs: patienceMs })
    assert.equal(answer.exitCode, 0, `${args.join(' ')}: ${answer.stderr}`)
    return answer.stdout
  }

  /** Asks the hub itself as its administrator. */
  async atHub(...args: string[]): Promise<string> {
    const { cluster, cloud } = this
    const [program = 'kubectl'] = cluster.kubectlCommand([])
    const kubeconfig = join(cloud.directory, 'admin.kubeconfig')
    const env = { ...cloud.env, KUBECACHEDIR: join(cluster.directory, 'hub-cache') }
    const asked = [program, '--kubeconfig', kubeconfig, ...args]
    const answer = await cloud.host.run(asked, { env, timeoutMs: patienceMs })
    assert.equal(answer.exitCode, 0, `${args.join(' ')}: ${answer.stderr}`)
    return answer.stdout
  }

  async #visit(): Promise<number> {
    const client = await this.cluster.host(4)
    return (await fetchPage(client, `${this.server.host.address}:30080`)).visits
  }

  async #tasks(): Promise<Set<string>> {
    const all = await Promise.all(this.nodes.map(({ host }) => runningTasks(host)))
    return all.reduce((before, next) => before.union(next))
  }
}

async function threeMasters(cluster: ClusterOnHosts, siteFlags: string[]): Promise<Master[]> {
  const embedded = [...siteFlags, '--etcd', 'embedded', '--etcd-program', await etcdProgram()]
  const story: Story = { cluster, embedded, masters: [] }
  const by = await startOnEtcd(story)
  return [
    by,
    await joinMaster(story, { number: 7, by }),
    await joinMaster(story, { number: 8, by }),
  ]
}
