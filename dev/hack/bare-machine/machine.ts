import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

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

/** A hierarchy of control groups, as the host has mounted it. */
interface Hierarchy {
  mountPoint: string
  type: string
  options: string
}

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The signal ends the machine with all that runs on it. */
export async function startMachine(root: string, signal: AbortSignal): Promise<Machine> {
  const hierarchies = await readHierarchies()
  const groups = hierarchies.map(({ mountPoint }) => join(mountPoint, `skerry-bare-${process.pid}`))
  const removeGroups = async (): Promise<void> => {
    for (const group of groups) await removeGroup(group)
  }
  for (const group of groups) await makeGroup(group)
  const namespaces = ['--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup']
  const flags = [...namespaces, '--fork', '--kill-child', '--propagation', 'private']
  const boot = ['sh', '-c', bootScript(root, hierarchies)]
  const holder = spawn(
    'sh',
    ['-c', `${joinGroups(groups)}; exec unshare "$@"`, 'sh', ...flags, ...boot],
    { stdio: ['ignore', 'pipe', 'inherit'], signal, killSignal: 'SIGKILL' },
  )
  holder.on('error', () => undefined) // The signal; whoever runs a command is told.
  const pid = await firstProcess(holder).catch(async (error: unknown) => {
    holder.kill('SIGKILL')
    await removeGroups()
    throw error
  })
  const into = ['-t', `${pid}`, '-m', '-u', '-i', '-n', '-p', '-C', `--root=/proc/${pid}/root`]
  const clean = ['env', '-i', `PATH=${path}`, 'HOME=/root', 'LANG=C.UTF-8', 'TERM=dumb']
  const script = `${joinGroups(entryGroups(groups, hierarchies))}; exec nsenter "$@"`
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
      await removeGroups()
    },
  }
}

/** Returns the host's hierarchies: of version 1, of version 2, or of both. */
async function readHierarchies(): Promise<Hierarchy[]> {
  const text = await readFile('/proc/self/mountinfo', 'utf8')
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ')
    const mountPoint = before.split(' ')[4]
    const [type = '', , superOptions = ''] = after.split(' ')
    if (mountPoint === undefined || !/^cgroup2?$/.test(type)) return []
    const kept = superOptions
      .split(',')
      .filter(
        (option) => /^(name=|[a-z_]+$)/.test(option) && !/^(rw|ro|xattr|nsdelegate)$/.test(option),
      )
    const named = kept.some((option) => option.startsWith('name=')) ? ['none', ...kept] : kept
    return [{ mountPoint, type, options: type === 'cgroup2' ? 'rw' : named.join(',') }]
  })
}

async function makeGroup(group: string): Promise<void> {
  await mkdir(group)
  // A new cpuset of version 1 allows nothing, so it copies its parent's values.
  for (const name of ['cpuset.cpus', 'cpuset.mems']) {
    // Hierarchies of other controllers have no such file.
    const own = await readFile(join(group, name), 'utf8').catch(() => undefined)
    if (own?.trim() !== '') continue
    await writeFile(join(group, name), await readFile(join(group, '..', name), 'utf8')).catch(
      // Version 2 inherits the values of its parent.
      () => undefined,
    )
  }
}

function joinGroups(groups: readonly string[]): string {
  return groups.map((group) => `echo $$ > ${group}/cgroup.procs`).join('; ')
}

/** Returns the groups to enter. In version 2 the first process has moved down, as systemd does. */
function entryGroups(groups: readonly string[], hierarchies: readonly Hierarchy[]): string[] {
  return groups.map((group, at) =>
    hierarchies[at]?.type === 'cgroup2' ? join(group, 'init.scope') : group,
  )
}

/** Removes groups, deepest first. A group is empty a moment after its last process has ended. */
async function removeGroup(group: string): Promise<void> {
  for (const entry of await readdir(group, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeGroup(join(group, entry.name))
  }
  for (let tries = 0; ; tries++) {
    try {
      await rmdir(group)
      return
    } catch (error) {
      if (tries === 50) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/**
 * Creates what a machine has after its kernel has started: /proc, /sys, /dev, /run, a name, and one network
 * card whose cable ends at a router without routes. Runs with the host's programs until the root is changed.
 */
function bootScript(root: string, hierarchies: readonly Hierarchy[]): string {
  const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'net/tun', 'kmsg']
  const groups = hierarchies.flatMap(({ mountPoint, type, options }) => {
    const target = mountPoint.replace(/^\//, '')
    const prepare = [`mkdir -p ${target}`, `mount -t ${type} -o ${options} ${type} ${target}`]
    const move = [`mkdir ${target}/init.scope`, `echo 1 > ${target}/init.scope/cgroup.procs`]
    return type === 'cgroup2' ? [...prepare, ...move] : prepare
  })
  return [
    'set -e',
    `mount --bind ${root} ${root}`,
    `cd ${root}`,
    'mount -t proc proc proc',
    'mount -t sysfs sysfs sys',
    ...(hierarchies.length > 1 ? ['mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup'] : []),
    ...groups,
    'mount -t tmpfs -o mode=755 tmpfs dev',
    'mkdir dev/net dev/pts dev/shm',
    `for each in ${devices.join(' ')}; do [ ! -e /dev/$each ] || { : > dev/$each; mount --bind /dev/$each dev/$each; }; done`,
    'mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts',
    'ln -s pts/ptmx dev/ptmx; ln -s /proc/self/fd dev/fd',
    'ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr',
    'mount -t tmpfs tmpfs dev/shm',
    'mount -t tmpfs -o mode=755 tmpfs run; mkdir run/lock',
    'hostname bare',
    ...networkScript,
    'pivot_root . mnt; cd /',
    // Only the host has umount; Perl is essential in Debian. 2 is MNT_DETACH.
    `perl -e 'syscall(${umount2Numbers[process.arch]}, my $path = "/mnt", 2) == 0 or die "Cannot detach the host: $!\\n"'`,
    'echo ready',
    'exec 1> /dev/null',
    // The first process reaps what others leave.
    'while :; do sleep 86400 & wait $!; done',
  ].join('\n')
}

/** The system call's number, by Node's name of the architecture. */
const umount2Numbers: Readonly<Record<string, number>> = { x64: 166, arm64: 39 }

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
