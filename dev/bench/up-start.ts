import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CommandResult, createTestNetwork, type TestHost } from '@skerry/testing'
import { installationAt } from '../../roles/up/installation.ts'
import { lockHolder } from '../../roles/runtime/lock-file.ts'
import { alone, type Figure, median } from './measure/figure.ts'
import { memoryOf } from '../processes/role-process.ts'

export interface UpStartOptions {
  readonly rounds: number
  /** A directory on a real disk, in which each round makes its own. */
  readonly directory: string
}

const launcher = join(import.meta.dirname, '../..', 'skerry')
const runDir = '/run/skerry'
const commandMsMax = 180_000
/** The same as for the roles: the engine starts to return memory after 30 s. */
const settleMs = 40_000

/**
 * Measures from the command `skerry up` to its return: a Ready node and a tunnel that answers. Each round is
 * a first start: a fresh data directory, and an empty compile cache.
 */
export async function measureUpStart({ rounds, directory }: UpStartOptions): Promise<Figure[]> {
  await using network = await createTestNetwork()
  const host = await network.addHost(1)
  await mkdir(directory, { recursive: true })
  // Builds the bundle where the sources are newer.
  await skerry(host, ['--version'])
  const times: number[] = []
  let hubMegabytes = 0
  for (let round = 0; round < rounds; round++) {
    await using started = await startUp(host, join(directory, `up-${round}`))
    times.push(started.readyMs)
    if (round < rounds - 1) continue
    await sleep(settleMs)
    hubMegabytes = (await memoryOf(await hubPid(host, started.dataDir))).resident
  }
  return [
    alone('up.to-ready', 'ms', median(times), 10_000),
    alone('hub.memory.one-cluster', 'MB', hubMegabytes, 120),
  ]
}

interface StartedUp extends AsyncDisposable {
  readonly readyMs: number
  readonly dataDir: string
}

async function startUp(host: TestHost, home: string): Promise<StartedUp> {
  const data = ['--data-dir', join(home, 'data')]
  // The name is unique on the machine because the cgroups of the node's pods are named after it.
  const place = [...data, '--run-dir', runDir, '--node-name', `bench-${process.pid.toString(36)}`]
  const env = { NODE_COMPILE_CACHE: join(home, 'compile-cache') }
  const startMs = performance.now()
  await skerry(host, ['up', '--detach', '--no-install', ...place], env)
  const readyMs = performance.now() - startMs
  return {
    readyMs,
    dataDir: join(home, 'data'),
    async [Symbol.asyncDispose]() {
      await skerry(host, ['down', '--pods', ...data])
      await skerry(host, ['reset', '--yes', ...data])
    },
  }
}

async function skerry(
  host: TestHost,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CommandResult> {
  const result = await host.run([launcher, ...args], { env, timeoutMs: commandMsMax })
  if (result.exitCode === 0) return result
  const said = result.stderr + result.stdout
  throw new Error(`Cannot measure: skerry ${args[0] ?? ''}: exit code ${result.exitCode}: ${said}`)
}

/** A role is a child of the supervisor's, with the role as its argument. */
async function hubPid(host: TestHost, dataDir: string): Promise<number> {
  const supervisor = await lockHolder(installationAt(dataDir, runDir).lockFile)
  const parent = String(supervisor ?? '')
  const { stdout } = await host.run(['ps', '-o', 'pid=,args=', '--ppid', parent])
  const line = stdout.split('\n').find((each) => each.includes(' hub --data-dir'))
  if (line === undefined)
    throw new Error(`Cannot find the hub below process "${parent}": ${stdout}`)
  return Number.parseInt(line, 10)
}
