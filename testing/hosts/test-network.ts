import {
  type ChildProcess,
  type SpawnOptions,
  execFile,
  spawn,
  spawnSync,
} from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { promisify } from 'node:util'
import { until } from '../until.ts'
import { slowCable, type CableOptions } from './slow-cable.ts'

const execute = promisify(execFile)

/** The output of a command under test, and how it ended. */
export interface CommandResult {
  stdout: string
  stderr: string
  /** The exit code; 128 plus the signal's number, as in shells, if a signal ended it. */
  exitCode: number
}

/**
 * Several hosts on one machine: each has its own network, mount and UTS namespaces, a private /run, and a
 * cable to a switch in a third namespace. None has a route outside, so a runtime that looks for a registry
 * fails at once instead of reaching one.
 */
export interface TestNetwork extends AsyncDisposable {
  /** Adds a host; `hostNumber` 1..254 gives address 10.99.<network>.<hostNumber>. */
  addHost(hostNumber: number): Promise<TestHost>
}

export interface TestHost {
  readonly name: string
  readonly address: string
  /** The name of its network namespace, as `ip netns` has it. */
  readonly netns: string
  /** Runs to the end; never throws for an exit code. */
  run(command: readonly string[], options?: RunOptions): Promise<CommandResult>
  /** Starts a process in the host; it is killed when the network is disposed. */
  start(command: readonly string[], options?: SpawnOptions): ChildProcess
  /** Pulls the cable: the link goes down on the switch's side. */
  cut(): Promise<void>
  restore(): Promise<void>
  /** Makes its cable long and bad until disposed. */
  slow(cable: CableOptions): Promise<AsyncDisposable>
  /**
   * Simulates a power cut and reboot: SIGKILL to every process of the host, an empty /run, a new boot id. The
   * disk keeps its content.
   */
  reboot(): Promise<void>
}

export interface RunOptions {
  env?: Record<string, string>
  input?: string | Uint8Array
  timeoutMs?: number
}

let networksMade = 0

export async function createTestNetwork(): Promise<TestNetwork> {
  const id = `${process.pid.toString(36)}${(networksMade++).toString(36)}`
  // Two networks of one machine may exist at a time; their third octet keeps them apart in logs.
  const octet = (process.pid + networksMade) % 250
  const wan = `skw-${id}`
  await ip('netns', 'add', wan)
  await ip('-n', wan, 'link', 'add', 'switch', 'type', 'bridge')
  await ip('-n', wan, 'link', 'set', 'switch', 'up')
  const hosts: HostState[] = []
  const abandoned = (): void => {
    for (const { netns } of hosts) destroyAtOnce(netns)
    destroyAtOnce(wan)
  }
  process.once('exit', abandoned)
  process.once('SIGTERM', exitTerminated)
  return {
    async addHost(hostNumber) {
      const host = await createHost({
        id,
        wan,
        hostNumber,
        address: `10.99.${octet}.${hostNumber}`,
      })
      hosts.push(host)
      return facade(host)
    },
    async [Symbol.asyncDispose]() {
      for (const host of hosts) await destroyHost(host)
      await ip('netns', 'delete', wan)
      process.off('exit', abandoned)
      process.off('SIGTERM', exitTerminated)
    },
  }
}

/** A test runner ends a file that takes too long with SIGTERM, which by default runs no exit hook. */
function exitTerminated(): void {
  process.exit(128 + constants.signals.SIGTERM)
}

/**
 * Cleans up if the network was not disposed: no containers may stay. Children are killed first, because a
 * container's parent is its shim.
 */
function destroyAtOnce(netns: string): void {
  const script = `
    for round in 1 2 3; do
      for pid in $(ip netns pids "$1"); do pkill -9 -P "$pid"; kill -9 "$pid"; done
    done
    ip netns delete "$1"`
  spawnSync('sh', ['-c', script, 'sh', netns], { stdio: 'ignore' })
}

interface HostState {
  name: string
  netns: string
  wan: string
  port: string
  address: string
  holder: ChildProcess
}

interface HostPlan {
  id: string
  wan: string
  hostNumber: number
  address: string
}

async function createHost(plan: HostPlan): Promise<HostState> {
  const netns = `skh-${plan.id}-${plan.hostNumber}`
  const port = `p${plan.hostNumber}`
  await ip('netns', 'add', netns)
  await ip(
    '-n',
    plan.wan,
    'link',
    'add',
    port,
    'type',
    'veth',
    'peer',
    'name',
    'eth0',
    'netns',
    netns,
  )
  await ip('-n', plan.wan, 'link', 'set', port, 'master', 'switch', 'up')
  await ip('-n', netns, 'link', 'set', 'lo', 'up')
  await ip('-n', netns, 'address', 'add', `${plan.address}/24`, 'dev', 'eth0')
  await ip('-n', netns, 'link', 'set', 'eth0', 'up')
  const name = `host${plan.hostNumber}`
  const holder = await startHolder(netns, name)
  return { name, netns, wan: plan.wan, port, address: plan.address, holder }
}

/**
 * Starts the holder, which keeps the namespaces. The unified cgroup tree is hidden in it because crun refuses
 * a hybrid mount; a fresh boot id makes a reboot visible to its readers.
 */
async function startHolder(netns: string, hostname: string): Promise<ChildProcess> {
  const script = [
    'umount /sys/fs/cgroup/unified 2>/dev/null',
    'mount -t tmpfs tmpfs /run',
    'cat /proc/sys/kernel/random/uuid > /run/boot_id',
    'mount --bind /run/boot_id /proc/sys/kernel/random/boot_id',
    `hostname ${hostname}`,
    'echo ready',
    'exec sleep infinity',
  ].join('\n')
  const holder = spawn(
    'nsenter',
    [
      `--net=/run/netns/${netns}`,
      'unshare',
      '-m',
      '-u',
      '--propagation',
      'private',
      'sh',
      '-c',
      script,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [line] = await once(holder.stdout, 'data')
  if (!String(line).includes('ready')) throw new Error(`Cannot start test host: ${String(line)}`)
  return holder
}

function facade(host: HostState): TestHost {
  const inHost = (command: readonly string[]): string[] => [
    '-t',
    String(host.holder.pid),
    '-n',
    '-m',
    '-u',
    '--',
    ...command,
  ]
  return {
    name: host.name,
    address: host.address,
    netns: host.netns,
    run: (command, options = {}) => runToEnd(['nsenter', ...inHost(command)], options),
    start: (command, options = {}) => spawn('nsenter', inHost(command), options),
    cut: () => ip('-n', host.wan, 'link', 'set', host.port, 'down'),
    restore: () => ip('-n', host.wan, 'link', 'set', host.port, 'up'),
    slow: (cable) => slowCable(host, cable),
    async reboot() {
      await killAll(host)
      await clearLinks(host)
      host.holder = await startHolder(host.netns, host.name)
    },
  }
}

/** Removes the links and rules that pods left in the network namespace; the cable stays. */
async function clearLinks(host: HostState): Promise<void> {
  const { stdout } = await execute('ip', ['-n', host.netns, '-o', 'link'])
  for (const line of stdout.split('\n')) {
    const name = /^\d+: ([^:@]+)/.exec(line)?.[1]
    if (name === undefined || name === 'lo' || name === 'eth0') continue
    await runToEnd(['ip', '-n', host.netns, 'link', 'delete', name], {})
  }
  await runToEnd(['nsenter', `--net=/run/netns/${host.netns}`, 'nft', 'flush', 'ruleset'], {})
}

async function destroyHost(host: HostState): Promise<void> {
  await killAll(host)
  await ip('netns', 'delete', host.netns)
}

/**
 * Kills by namespace, not by name: every process in the host's network or mount namespace. A pod's processes
 * have their own network namespace, but their shim has our mount namespace.
 */
async function killAll(host: HostState): Promise<void> {
  await until(async () => {
    const pids = await pidsOf(host)
    for (const pid of pids) tryKill(pid)
    return pids.length === 0
  })
}

async function pidsOf(host: HostState): Promise<number[]> {
  const holderPid = host.holder.pid
  const { stdout } = await execute('ip', ['netns', 'pids', host.netns])
  const found = new Set(stdout.split('\n').filter(Boolean).map(Number))
  if (holderPid !== undefined) {
    for (const child of await descendants([...found])) found.add(child)
  }
  return [...found]
}

/** Returns the children of the found processes: containers run in separate network namespaces. */
async function descendants(roots: readonly number[]): Promise<number[]> {
  const { stdout } = await execute('ps', ['-e', '-o', 'pid=,ppid='])
  const childrenOf = new Map<number, number[]>()
  for (const line of stdout.split('\n')) {
    const [pid, parent] = line.trim().split(/\s+/).map(Number)
    if (pid === undefined || parent === undefined) continue
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), pid])
  }
  const found: number[] = []
  const queue = [...roots]
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    for (const child of childrenOf.get(pid) ?? []) {
      found.push(child)
      queue.push(child)
    }
  }
  return found
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // ESRCH means that it ended between the listing and now.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

async function ip(...args: string[]): Promise<void> {
  await execute('ip', args)
}

export async function runToEnd(
  command: readonly string[],
  options: RunOptions,
): Promise<CommandResult> {
  const [file = '', ...args] = command
  const child = spawn(file, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
    ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs }),
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.input ?? '')
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) =>
      resolve(signal === null ? (code ?? 0) : 128 + constants.signals[signal]),
    )
  })
  return { ...output, exitCode }
}
