import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { silentLogger } from '@skerry/base'
import type { CommandResult, TestHost } from '@skerry/testing'
import { findEtcd } from '../../roles/site/etcd/etcd-program.ts'
import type { ClusterOnHosts, JoinToken } from './cluster-on-hosts.ts'
import { RoleProcess, skerryCommand, skerryEnv } from './role-process.ts'

export interface Master {
  readonly name: string
  readonly host: TestHost
  readonly role: RoleProcess
  readonly dataDir: string
}

export interface Members {
  readonly hasQuorum: boolean
  readonly state: string
  readonly members: readonly {
    readonly name: string
    readonly isLeader: boolean
    readonly isLearner: boolean
    readonly isWitness: boolean
    readonly isHealthy: boolean
  }[]
}

export interface Story {
  readonly cluster: ClusterOnHosts
  /** The flags of every master. */
  readonly embedded: readonly string[]
  masters: readonly Master[]
}

/** Hosts have no way to a mirror, so that the program is brought before. */
export async function etcdProgram(): Promise<string> {
  const directory = join(import.meta.dirname, '../../node_modules/.cache/etcd')
  const { path } = await findEtcd(undefined, directory, silentLogger, AbortSignal.timeout(600_000))
  return path
}

/** Stops the site that runs on a file, and starts it as the first master. */
export async function startOnEtcd({ cluster, embedded }: Story): Promise<Master> {
  const { siteHost: host, siteDirectory: dataDir } = cluster
  const name = 'master-1'
  assert.equal(await cluster.site.stop(), 0)
  const flags = ['--data-dir', dataDir, '--master-name', name, ...embedded]
  const logFile = join(cluster.directory, `${name}.log`)
  const command = [...skerryCommand, 'site', ...flags]
  const role = new RoleProcess({ host, name, command, logFile })
  cluster.roles.push(role)
  await role.start()
  const first = { name, host, role, dataDir }
  await untilReady(cluster, first)
  return first
}

export interface Joining {
  readonly number: number
  /** The master on whose machine the token is made. */
  readonly by: Master
  readonly replaces?: string
}

export async function joinMaster(
  { cluster, embedded }: Story,
  { number, by, replaces }: Joining,
): Promise<Master> {
  const name = `master-${number}`
  const { stdout } = await runAt(by, 'token', 'create', '--master', '-o', 'json')
  // The program's own JSON; the join would fail without its fields.
  const { token, caHash } = JSON.parse(stdout) as JoinToken
  const tokenFile = join(cluster.directory, `${name}.token`)
  await writeFile(tokenFile, token, { mode: 0o600 })
  const host = await cluster.host(number)
  const dataDir = join(cluster.directory, name)
  await mkdir(dataDir)
  const server = `https://${by.host.address}:6443`
  const joining = ['--join', server, '--token-file', tokenFile, '--ca-hash', caHash]
  if (replaces !== undefined) joining.push('--replaces', replaces)
  const flags = ['--data-dir', dataDir, '--master-name', name, ...embedded, ...joining]
  const logFile = join(cluster.directory, `${name}.log`)
  const role = new RoleProcess({
    host,
    name,
    command: [...skerryCommand, 'site', ...flags],
    logFile,
  })
  cluster.roles.push(role)
  await role.start()
  const master = { name, host, role, dataDir }
  await untilReady(cluster, master)
  return master
}

export async function untilReady(cluster: ClusterOnHosts, master: Master): Promise<void> {
  const look = async (): Promise<true | undefined> => {
    const { stdout } = await tryKubectlAt(cluster, master, 'get', '--raw', '/readyz')
    return stdout === 'ok' ? true : undefined
  }
  await cluster.waitFor(`${master.name} to serve`, look, { timeoutMs: 120_000 })
}

/** A busy machine is silent for a moment. */
export function untilState({ cluster }: Story, master: Master, state: string): Promise<Members> {
  const look = async (): Promise<Members | undefined> => {
    const found = await membersAt(master)
    return found.state === state ? found : undefined
  }
  return cluster.waitFor(`the members to be in the state "${state}"`, look, { timeoutMs: 120_000 })
}

export async function membersAt(master: Master): Promise<Members> {
  const { stdout, stderr, exitCode } = await skerryAt(master, 'members', '-o', 'json')
  assert.equal(exitCode, 0, stderr)
  // The program's own JSON.
  return JSON.parse(stdout) as Members
}

export function skerryAt(master: Master, ...words: string[]): Promise<CommandResult> {
  return runAt(master, 'site', ...words)
}

/** Runs the program on a master's machine, for its data directory. */
export function runAt({ host, dataDir }: Master, ...words: string[]): Promise<CommandResult> {
  const command = [...skerryCommand, ...words, '--data-dir', dataDir]
  return host.run(command, { env: skerryEnv, timeoutMs: 60_000 })
}

/** Asks one master, in its host. */
export async function kubectlAt(
  cluster: ClusterOnHosts,
  master: Master,
  ...args: string[]
): Promise<string> {
  const { stdout, stderr, exitCode } = await tryKubectlAt(cluster, master, ...args)
  assert.equal(exitCode, 0, stderr)
  return stdout
}

export function tryKubectlAt(
  cluster: ClusterOnHosts,
  { host, dataDir }: Master,
  ...args: string[]
): Promise<CommandResult> {
  const config = ['--kubeconfig', join(dataDir, 'admin.kubeconfig')]
  return host.run(cluster.kubectlCommand([...config, ...args]), {
    env: { ...cluster.kubectlEnv, KUBECACHEDIR: join(dataDir, 'kube-cache') },
    timeoutMs: 20_000,
  })
}
