import assert from 'node:assert/strict'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommandResult, TestHost } from '@skerry/testing'
import { ClusterOnHosts, type EdgeNode } from './cluster-on-hosts.ts'
import { clientUrlOf, planMember, type EtcdMember } from './etcd-member.ts'
import { RoleProcess, skerryCommand, skerryEnv } from './role-process.ts'
import { waitFor } from './wait-for.ts'

const masterNumbers = [1, 2, 3] as const
const nodeHostNumber = 5
export const clientHostNumber = 6
const hubHostNumber = 7
const siteName = 'site'

/** One of three machines with a master of the site and a member of its etcd. */
export interface Master {
  readonly host: TestHost
  readonly role: RoleProcess
  readonly member: EtcdMember
  /** The disk, with the data directories of etcd and of the site. */
  readonly disk: string
  readonly dataDir: string
  readonly agentTokenFile: string
  readonly url: string
  /** The audit log of what its controllers create. */
  readonly auditLog: string
}

export interface MastersOptions {
  /** The program of the master with this number; default: from its sources. */
  commandOf?: (number: number) => readonly string[]
  /** The directory of the machine with this number. If omitted, one in the cluster's own. */
  diskOf?: (number: number) => string | undefined
}

export interface SiteHub {
  readonly host: TestHost
  readonly server: string
  readonly role: RoleProcess
  readonly dataDir: string
  /** Names the site behind the hub. */
  readonly kubeconfig: string
}

/** Three machines with a master and an etcd member each, a node, and a hub to which each master's agent is connected. */
export interface MastersOnHosts {
  readonly cluster: ClusterOnHosts
  readonly masters: readonly [Master, Master, Master]
  readonly hub: SiteHub
}

/** Everything that the controllers create shows which master’s controllers did, and at which revision. */
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: RequestResponse
    users: ['system:skerry-site']
    verbs: [create]
  - level: None
`

interface MachinePlan {
  readonly host: TestHost
  readonly directory: string
  readonly tokenFile: string
  readonly flags: readonly string[]
  readonly member: EtcdMember
}

/** Starts all of it; the masters serve and the tunnel is open when this resolves. Dispose the cluster. */
export async function startMasters(options: MastersOptions = {}): Promise<MastersOnHosts> {
  const { commandOf = () => skerryCommand } = options
  const roles: RoleProcess[] = []
  let plans: readonly MachinePlan[] = []
  let hub: SiteHub | undefined
  const cluster = await ClusterOnHosts.start({
    siteCommand: commandOf(1),
    async siteFlags(place) {
      const hosts = await Promise.all(masterNumbers.map((number) => place.host(number)))
      hub = await startHub(await place.host(hubHostNumber), place.directory, roles)
      plans = await planMachines(hosts, hub, { ...options, directory: place.directory })
      roles.push(...plans.map(({ member }) => member.role))
      await Promise.all(plans.map(({ member }) => member.role.start()))
      return plans[0]?.flags ?? []
    },
  })
  cluster.roles.push(...roles)
  const [first, ...others] = plans
  assert.ok(hub && first)
  const masters = await Promise.all([
    Promise.resolve(masterOf(first, cluster.site, cluster.siteDirectory)),
    ...others.map((plan, at) => startMaster(cluster, plan, commandOf(at + 2))),
  ])
  const [one, two, three] = masters
  assert.ok(one && two && three)
  const scene: MastersOnHosts = { cluster, masters: [one, two, three], hub }
  await waitFor('the tunnel to open', async () =>
    (await kubectlByHub(scene, 'get', '--raw', '/readyz')) === 'ok' ? true : undefined,
  )
  return scene
}

async function planMachines(
  hosts: readonly TestHost[],
  hub: SiteHub,
  { directory, diskOf }: MastersOptions & { directory: string },
): Promise<MachinePlan[]> {
  const policy = join(directory, 'audit-policy.yaml')
  await writeFile(policy, auditPolicy)
  return Promise.all(
    hosts.map(async (host, at): Promise<MachinePlan> => {
      const disk = diskOf?.(at + 1) ?? join(directory, `machine-${at + 1}`)
      await mkdir(disk, { recursive: true })
      const own = clientUrlOf(host)
      const servers = [own, ...hosts.map(clientUrlOf).filter((url) => url !== own)]
      const { token, caHash } = await hubToken(hub)
      const tokenFile = join(directory, `agent-${at + 1}.token`)
      await writeFile(tokenFile, token)
      const flags = [
        '--etcd-servers',
        servers.join(),
        '--name',
        siteName,
        '--audit-policy-file',
        policy,
        '--audit-log-path',
        join(disk, 'audit.log'),
        '--hub',
        hub.server,
        '--hub-token-file',
        tokenFile,
        '--hub-ca-hash',
        caHash,
      ]
      const member = planMember(host, hosts, { directory: disk })
      return { host, directory: disk, tokenFile, flags, member }
    }),
  )
}

function masterOf(plan: MachinePlan, role: RoleProcess, dataDir: string): Master {
  const { host, directory: disk, member, tokenFile: agentTokenFile } = plan
  const url = `https://${host.address}:6443`
  const auditLog = join(disk, 'audit.log')
  return { host, role, member, disk, dataDir, agentTokenFile, url, auditLog }
}

async function startMaster(
  cluster: ClusterOnHosts,
  plan: MachinePlan,
  command: readonly string[],
): Promise<Master> {
  const { host, directory, flags } = plan
  const dataDir = join(directory, 'site')
  // An operator copies this one file from the first master's machine.
  const key = join(directory, 'replica.key')
  await copyFile(join(cluster.siteDirectory, 'pki', 'replica.key'), key)
  const own = ['site', '--data-dir', dataDir, '--replica-key-file', key]
  const role = new RoleProcess({
    host,
    name: `master-${host.name}`,
    command: [...command, ...own, ...flags],
    logFile: join(cluster.directory, `master-${host.name}.log`),
  })
  cluster.roles.push(role)
  await role.start()
  const master = masterOf(plan, role, dataDir)
  await untilReady(cluster, master)
  return master
}

export async function untilReady(cluster: ClusterOnHosts, master: Master): Promise<void> {
  await cluster.waitFor(`${master.host.name} to serve`, async () =>
    (await kubectlAt(cluster, master, 'get', '--raw', '/readyz')) === 'ok' ? true : undefined,
  )
}

async function startHub(host: TestHost, directory: string, roles: RoleProcess[]): Promise<SiteHub> {
  const dataDir = join(directory, 'hub')
  const role = new RoleProcess({
    host,
    name: 'hub',
    command: [...skerryCommand, 'hub', '--data-dir', dataDir],
    logFile: join(directory, 'hub.log'),
  })
  roles.push(role)
  await role.start()
  const admin = await waitFor(
    'the hub to serve',
    () => readFile(join(dataDir, 'admin.kubeconfig'), 'utf8'),
    { timeoutMs: 120_000 },
  )
  const server = `https://${host.address}:7443`
  const kubeconfig = join(directory, 'site-by-hub.kubeconfig')
  await writeFile(kubeconfig, admin.replace(/server: .*/, `server: ${server}/clusters/${siteName}`))
  return { host, role, server, dataDir, kubeconfig }
}

/** Each agent has a token of its own: a token is good for one key. */
export async function hubToken({ host, server, dataDir }: SiteHub) {
  const where = ['--data-dir', dataDir, '--server', server]
  const command = [...skerryCommand, 'cluster', 'join-command', siteName, ...where, '-o', 'json']
  const { stdout, stderr, exitCode } = await host.run(command, { env: skerryEnv })
  assert.equal(exitCode, 0, stderr)
  // The program's own JSON.
  return JSON.parse(stdout) as { token: string; caHash: string }
}

/** Asks one master, in its host. */
export async function kubectlAt(
  cluster: ClusterOnHosts,
  master: Pick<Master, 'host' | 'dataDir'>,
  ...args: string[]
): Promise<string> {
  const { stdout, stderr, exitCode } = await tryKubectlAt(cluster, master, ...args)
  assert.equal(exitCode, 0, stderr)
  return stdout
}

export function tryKubectlAt(
  cluster: ClusterOnHosts,
  { host, dataDir }: Pick<Master, 'host' | 'dataDir'>,
  ...args: string[]
): Promise<CommandResult> {
  const config = ['--kubeconfig', join(dataDir, 'admin.kubeconfig')]
  const env = { ...cluster.kubectlEnv, KUBECACHEDIR: join(dataDir, 'kube-cache') }
  return host.run(cluster.kubectlCommand([...config, ...args]), { env, timeoutMs: 20_000 })
}

/** Asks the site through the hub, in the hub's host. */
export async function kubectlByHub(
  { cluster, hub }: MastersOnHosts,
  ...args: string[]
): Promise<string> {
  const [program = ''] = cluster.kubectlCommand([])
  const env = { HOME: cluster.directory, KUBECACHEDIR: join(cluster.directory, 'hub-cache') }
  const command = [program, '--kubeconfig', hub.kubeconfig, ...args]
  const { stdout, stderr, exitCode } = await hub.host.run(command, { env, timeoutMs: 20_000 })
  assert.equal(exitCode, 0, stderr)
  return stdout
}

/** Joins a node that was told a dead address and one master. */
export async function joinNode({ cluster, masters }: MastersOnHosts): Promise<EdgeNode> {
  const { token, caHash } = await cluster.createToken()
  const plan = await cluster.planNode(nodeHostNumber)
  const tokenFile = join(cluster.directory, 'joining')
  await writeFile(tokenFile, token)
  // The first address answers nothing: any of several is enough.
  const nobody = masters[0].url.replace('6443', '6444')
  const dialled = ['--server', nobody, '--server', masters[0].url]
  const joining = [...dialled, '--token-file', tokenFile, '--ca-hash', caHash]
  const node = await cluster.startNode(plan, [...skerryCommand, 'node', ...plan.flags, ...joining])
  await cluster.untilNodeReady(node.name)
  return node
}
