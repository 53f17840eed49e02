import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { bootScript, makeControlGroups, type ControlGroups } from '@skerry/testing'

const execute = promisify(execFile)

/** A root directory that runs as a machine: its own processes, mounts, network, name and cgroups. */
export interface Machine extends AsyncDisposable {
  /** The id of its first process, as the host sees it. */
  readonly pid: number
  /** Runs a command to its end with this process's output; returns the exit code. */
  run(command: readonly string[], options?: MachineRunOptions): Promise<number>
  /** Returns what the command prints; throws unless it ends with 0. */
  ask(command: readonly string[]): Promise<string>
}

export interface MachineRunOptions {
  readonly cwd?: string
  readonly terminal?: boolean
}

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The signal ends the machine with all that runs on it. */
export async function startMachine(root: string, signal: AbortSignal): Promise<Machine> {
  const groups = await makeControlGroups(`skerry-bare-${process.pid}`)
  const namespaces = ['--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup']
  const flags = [...namespaces, '--fork', '--kill-child', '--propagation', 'private']
  const boot = ['sh', '-c', machineScript(root, groups)]
  const holder = spawn('sh', ['-c', `${groups.join}; exec unshare "$@"`, 'sh', ...flags, ...boot], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal,
    killSignal: 'SIGKILL',
  })
  holder.on('error', () => undefined) // The signal; whoever runs a command is told.
  const pid = await firstProcess(holder).catch(async (error: unknown) => {
    holder.kill('SIGKILL')
    await groups[Symbol.asyncDispose]()
    throw error
  })
  const into = ['-t', `${pid}`, '-m', '-u', '-i', '-n', '-p', '-C', `--root=/proc/${pid}/root`]
  const clean = ['env', '-i', `PATH=${path}`, 'HOME=/root', 'LANG=C.UTF-8', 'TERM=dumb']
  const script = `${groups.enter}; exec nsenter "$@"`
  const enter = (command: readonly string[], { cwd = '/' }: MachineRunOptions): string[] => {
    const there = ['sh', '-c', 'cd "$0" && exec "$@"', cwd, ...command]
    return ['-c', script, 'sh', ...into, ...clean, ...there]
  }
  return {
    pid,
    async run(command, options = {}) {
      const input = options.terminal === true ? 'inherit' : 'ignore'
      const child = spawn('sh', enter(command, options), { stdio: [input, 'inherit', 'inherit'] })
      const [code]: unknown[] = await once(child, 'exit')
      signal.throwIfAborted()
      return typeof code === 'number' ? code : 1
    },
    async ask(command) {
      const { stdout } = await execute('sh', enter(command, {}))
      return stdout
    },
    async [Symbol.asyncDispose]() {
      // The first process ends with it, and with the first process all others and all mounts.
      holder.kill('SIGKILL')
      if (holder.exitCode === null && holder.signalCode === null) await once(holder, 'exit')
      await groups[Symbol.asyncDispose]()
    },
  }
}

/**
 * Creates what a machine has after its kernel has started, a name, and one network card whose cable ends at a router
 * without routes. Runs with the host's programs until the root is changed.
 */
function machineScript(root: string, { hierarchies, mount }: ControlGroups): string {
  const { mounts, changeRoot } = bootScript(mount)
  return [
    'set -e',
    `mount --bind ${root} ${root}`,
    `cd ${root}`,
    ...mounts,
    // In version 2 a group with groups below has no processes, so this one moves down, as systemd does.
    ...(hierarchies.length === 1 && hierarchies[0]?.type === 'cgroup2'
      ? ['mkdir sys/fs/cgroup/init.scope', 'echo 1 > sys/fs/cgroup/init.scope/cgroup.procs']
      : []),
    'hostname bare',
    ...networkScript,
    ...changeRoot,
    'echo ready',
    'exec 1> /dev/null',
    // The first process reaps what others leave.
    'while :; do sleep 86400 & wait $!; done',
  ].join('\n')
}

/** The router is a network namespace that a process keeps; its file is outside the root. */
const networkScript = [
  'ip link set lo up',
  'router=$(readlink -f ../router); : > $router',
  'unshare --net=$router true',
  'ip link add eth0 type veth peer name cable netns $router',
  'nsenter --net=$router ip link set cable up',
  'nsenter --net=$router ip address add 192.168.77.1/24 dev cable',
  'nsenter --net=$router sleep infinity > /dev/null 2>&1 &',
  'ip address add 192.168.77.2/24 dev eth0',
  'ip link set eth0 up',
  'ip route add default via 192.168.77.1',
]

/** Returns the id of the first process outside: the child of `unshare`. */
async function firstProcess(holder: ChildProcess): Promise<number> {
  if (holder.stdout === null) throw new Error('Cannot start the machine: no output')
  for await (const line of createInterface(holder.stdout)) {
    if (line !== 'ready') continue
    const task = `/proc/${holder.pid}/task/${holder.pid}/children`
    return Number((await readFile(task, 'utf8')).trim())
  }
  throw new Error('Cannot start the machine: it ended at once')
}
