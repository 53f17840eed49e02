import { execFile } from 'node:child_process'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { engineFlags } from '../../../roles/runtime/engine-flags.ts'
import { buildKarmada, karmadaPrograms } from '../../hack/upstream/karmada-build.ts'
import { startKarmada } from '../../hack/upstream/karmada-run.ts'
import { argumentsOf, runProgram, type RunningProgram } from '../../hack/upstream/run-program.ts'
import { freePort } from '../../processes/free-port.ts'
import { launcherEnvironment } from '../../processes/launcher-environment.ts'
import { openRawClient, type RawClient } from '../../processes/raw-client.ts'
import { startRoleProcess } from '../../processes/role-process.ts'

const execute = promisify(execFile)

export interface FleetSite {
  readonly name: string
  readonly kubeconfig: string
  /** Whether groups of the agent's nodes are clusters, too, if it supports that. */
  readonly hasVirtualClusters?: boolean
}

/** A fleet's control plane, running, and the agents that belong to it. */
export interface ControlPlane extends AsyncDisposable {
  readonly client: RawClient
  /** The ids of all its processes. */
  readonly pids: readonly number[]
  startAgent(site: FleetSite): Promise<RunningProgram>
}

export interface FleetPlace {
  /** The bundle's entry. */
  readonly program: string
  /** The directory of this subject alone. */
  readonly directory: string
  /** The directory of upstream's programs. */
  readonly upstream: string
}

export type StartControlPlane = (place: FleetPlace) => Promise<ControlPlane>

export async function startHubPlane({ program, directory }: FleetPlace): Promise<ControlPlane> {
  const port = await freePort()
  const data = join(directory, 'hub')
  const hub = await startRoleProcess({
    program,
    role: 'hub',
    args: ['--data-dir', data, '--bind-address', '127.0.0.1', '--port', String(port)],
    directory,
    compileCache: join(directory, 'compile-cache'),
  })
  const client = await openRawClient(join(data, 'admin.kubeconfig'))
  const server = `https://127.0.0.1:${port}`
  return {
    client,
    pids: [hub.pid],
    async startAgent({ name, kubeconfig, hasVirtualClusters = false }) {
      const home = join(directory, name)
      await mkdir(home, { mode: 0o700 })
      const duties = [hasVirtualClusters ? '--virtual-clusters' : '--apply-works']
      const asked = ['cluster', 'join-command', name, '--data-dir', data, '--server', server]
      const command = [program, ...asked, ...duties, '-o', 'json']
      const { stdout } = await execute(process.execPath, command)
      // The program `cluster join-command -o json` prints this type.
      const { token, caHash } = JSON.parse(stdout) as { token: string; caHash: string }
      const tokenFile = join(home, 'token')
      await writeFile(tokenFile, token, { mode: 0o600 })
      const flags = ['--disable-warning=ExperimentalWarning', ...(engineFlags['agent'] ?? [])]
      const registering = ['--hub', server, '--name', name, '--token-file', tokenFile]
      const own = ['--ca-hash', caHash, '--data-dir', home, '--kubeconfig', kubeconfig]
      return runProgram({
        path: process.execPath,
        args: [...flags, program, 'agent', ...registering, ...own, ...duties],
        logPath: join(home, 'agent.log'),
        environment: {
          ...(await launcherEnvironment('agent')),
          NODE_COMPILE_CACHE: join(directory, 'compile-cache'),
        },
      })
    },
    async [Symbol.asyncDispose]() {
      client.close()
      await hub[Symbol.asyncDispose]()
    },
  }
}

export async function startKarmadaPlane({
  directory,
  upstream,
}: FleetPlace): Promise<ControlPlane> {
  const before = new Set(await childPids())
  const bin = await buildKarmada(karmadaPrograms.filter((each) => each !== 'karmada-search'))
  const karmada = await startKarmada({
    upstreamBin: upstream,
    bin,
    directory,
    bindAddress: '127.0.0.1',
    withSearch: false,
  })
  const pids = (await childPids()).filter((pid) => !before.has(pid))
  const client = await openRawClient(karmada.kubeconfigPath)
  return {
    client,
    pids,
    startAgent: ({ name, kubeconfig }) =>
      runProgram({
        path: join(bin, 'karmada-agent'),
        args: argumentsOf({
          'cluster-name': name,
          'karmada-kubeconfig': karmada.kubeconfigPath,
          'report-secrets': 'None',
          'leader-elect': 'false',
          'metrics-bind-address': '0',
          'health-probe-bind-address': '0',
        }),
        logPath: join(directory, `${name}.log`),
        environment: { KUBECONFIG: kubeconfig },
      }),
    async [Symbol.asyncDispose]() {
      client.close()
      await karmada[Symbol.asyncDispose]()
    },
  }
}

/** Returns the ids of the running processes that this one has started. */
async function childPids(): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    const parent = text.slice(text.lastIndexOf(')') + 2).split(' ')[1]
    if (Number(parent) === process.pid) found.push(Number(name))
  }
  return found
}
