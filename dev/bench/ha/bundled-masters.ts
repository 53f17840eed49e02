import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestHost, TestNetwork } from '@skerry/testing'
import { RoleProcess } from '../../e2e/role-process.ts'
import { waitFor } from '../../e2e/wait-for.ts'
import { bundledCommand } from '../measure/bundled-command.ts'
import type { HaClients } from './ha-clients.ts'

/** A master from the bundle, with an etcd that it runs itself, on a host of its own. */
export interface BundledMaster {
  readonly name: string
  readonly host: TestHost
  readonly role: RoleProcess
  readonly dataDir: string
  /** Names this master by its host's address. */
  readonly kubeconfig: string
}

export interface Bundle {
  /** The entry of the bundle. */
  readonly program: string
  readonly etcd: string
  /** On a real disk. */
  readonly directory: string
}

/** Three masters, and clients in a host of their own. */
export interface Scene {
  readonly masters: readonly BundledMaster[]
  readonly clients: HaClients
  readonly bundle: Bundle
}

const startMsMax = 120_000

/** Starts one master after the other; all three vote when this resolves. Disposing the network ends them. */
export async function startMasters(
  network: TestNetwork,
  bundle: Bundle,
  clients: HaClients,
): Promise<readonly BundledMaster[]> {
  const masters: BundledMaster[] = []
  for (const number of [1, 2, 3]) {
    const host = await network.addHost(number)
    const [first] = masters
    const joining = first ? await joiningFlags(first, bundle, number) : []
    const master = await startMaster({ host, number }, bundle, joining)
    await untilServes(master, clients)
    masters.push(master)
  }
  const [first] = masters
  if (first) await untilAllVote(first, bundle)
  return masters
}

/** Resolves once a master that was started answers requests. */
export async function untilServes(
  { name, role, kubeconfig }: BundledMaster,
  clients: HaClients,
): Promise<void> {
  const ask = { do: 'ask', at: kubeconfig, path: '/readyz' } as const
  await waitFor(
    `${name} to serve (see ${role.logFile})`,
    async () => ((await clients.order(ask)) === 200 ? true : undefined),
    { timeoutMs: startMsMax },
  )
}

/** Resolves once all three members answer. */
export async function untilAllVote(master: BundledMaster, bundle: Bundle): Promise<void> {
  await waitFor(
    'all members to answer',
    async () => {
      const { state } = await membersAt(master, bundle)
      return state === 'quorum: 3 of 3 members answer' ? true : undefined
    },
    { timeoutMs: startMsMax },
  )
}

/** Returns the master whose member leads the others. */
export async function etcdLeader({ masters, bundle }: Scene): Promise<BundledMaster> {
  return waitFor('a leader', async () => {
    const [asked] = masters
    if (!asked) return undefined
    const { members } = await membersAt(asked, bundle)
    const name = members.find(({ isLeader }) => isLeader)?.name
    return masters.find((each) => each.name === name)
  })
}

/** Returns the master whose controllers act. */
export async function controllersLeader({ masters, clients }: Scene): Promise<BundledMaster> {
  return waitFor('controllers to act', async () => {
    for (const each of masters) {
      const order = { do: 'leads', at: each.kubeconfig, host: each.host.name } as const
      if ((await clients.order(order)) === 1) return each
    }
    return undefined
  })
}

/** Returns the number of the process of this master's etcd. */
export async function etcdPid({ dataDir }: BundledMaster): Promise<number> {
  return Number(await readFile(join(dataDir, 'etcd', 'etcd.pid'), 'utf8'))
}

interface Members {
  readonly state: string
  readonly members: readonly { readonly name: string; readonly isLeader: boolean }[]
}

async function membersAt(master: BundledMaster, bundle: Bundle): Promise<Members> {
  // The program's own JSON.
  return JSON.parse(await runAt(master, bundle, ['site', 'members', '-o', 'json'])) as Members
}

async function joiningFlags(by: BundledMaster, bundle: Bundle, number: number): Promise<string[]> {
  const made = await runAt(by, bundle, ['token', 'create', '--master', '-o', 'json'])
  // The program's own JSON.
  const { token, caHash } = JSON.parse(made) as { token: string; caHash: string }
  const tokenFile = join(bundle.directory, `master-${number}.token`)
  await writeFile(tokenFile, token, { mode: 0o600 })
  const server = `https://${by.host.address}:6443`
  return ['--join', server, '--token-file', tokenFile, '--ca-hash', caHash]
}

async function startMaster(
  { host, number }: { host: TestHost; number: number },
  bundle: Bundle,
  joining: readonly string[],
): Promise<BundledMaster> {
  const name = `master-${number}`
  const dataDir = join(bundle.directory, name)
  await mkdir(dataDir, { recursive: true })
  const etcd = ['--etcd', 'embedded', '--etcd-program', bundle.etcd, '--master-name', name]
  const place = ['--data-dir', dataDir, '--name', 'bench', '--advertise-address', host.address]
  const compileCache = join(bundle.directory, 'compile-cache')
  const own = await bundledCommand('site', { program: bundle.program, compileCache })
  const command = [...own, 'site', ...place, ...etcd, ...joining]
  const role = new RoleProcess({ host, name, command, logFile: `${dataDir}.log` })
  await role.start()
  const written = await waitFor(
    `${name} to write its kubeconfig (see ${role.logFile})`,
    () => readFile(join(dataDir, 'admin.kubeconfig'), 'utf8'),
    { timeoutMs: startMsMax },
  )
  const kubeconfig = join(bundle.directory, `${name}.kubeconfig`)
  const named = written.replace(/server: .*/, `server: https://${host.address}:6443`)
  await writeFile(kubeconfig, named, { mode: 0o600 })
  return { name, host, role, dataDir, kubeconfig }
}

async function runAt(
  { host, dataDir }: BundledMaster,
  { program }: Bundle,
  words: readonly string[],
): Promise<string> {
  const command = [process.execPath, program, ...words, '--data-dir', dataDir]
  const { stdout, stderr, exitCode } = await host.run(command, { timeoutMs: 60_000 })
  if (exitCode !== 0) throw new Error(`Cannot run ${words.join(' ')}: ${stderr}`)
  return stdout
}
