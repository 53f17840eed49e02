import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findMissingPrograms, packagesOf } from '../../roles/up/system-packages.ts'
import {
  runToEnd,
  type CommandResult,
  type RunOptions,
  type TestHost,
} from '../hosts/test-network.ts'
import { until } from '../until.ts'
import { bootScript } from './boot-script.ts'
import { makeControlGroups, type ControlGroups } from './control-groups.ts'
import { bareDebianRoot, debianRoot, operatorName } from './debian-root.ts'

/**
 * A small Debian server in the network of a test host: a root of its own, systemd as its first process, and sshd on
 * port 22. When disposed of, its processes end, and its mounts, control groups and files are gone.
 */
export interface TestMachine extends AsyncDisposable {
  readonly address: string
  readonly passwords: { readonly root: string; readonly [operatorName]: string }
  /** The fingerprint of its host key, as `ssh-keygen -l` prints it on the machine. */
  hostKey(): Promise<string>
  /** Gives it another host key, as a machine that is installed again has. */
  renewHostKey(): Promise<void>
  /** Runs a command as root, past sshd; never throws for an exit code. */
  run(command: readonly string[], options?: RunOptions): Promise<CommandResult>
  /** Returns what the command prints; throws unless it ends with 0. */
  ask(command: readonly string[], options?: RunOptions): Promise<string>
}

/** Returns why machines cannot be made here, in one line, or false if they can. */
export async function whyNoMachine(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'needs root: machines are roots in namespaces'
  const missing = packagesOf(await findMissingPrograms(['end-to-end tests']))
  if (missing.length > 0) return `needs system packages: apt-get install ${missing.join(' ')}`
  return false
}

let machinesMade = 0

/** Boots a machine; resolves when its sshd listens. A bare one has none of the packages that a node needs. */
export async function startTestMachine(
  host: TestHost,
  name: string,
  { isBare = false }: { readonly isBare?: boolean } = {},
): Promise<TestMachine> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-machine-'))
  stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  await makeDisk(directory, name)
  const root = await (isBare ? bareDebianRoot() : debianRoot())
  const groups = await makeControlGroups(`skerry-machine-${process.pid}-${machinesMade++}`)
  stack.use(groups)
  const holder = await boot({ directory, name, host, groups, root })
  stack.defer(async () => {
    // The first process ends with it, and with the first process all others and all mounts.
    holder.kill('SIGKILL')
    if (holder.exitCode === null && holder.signalCode === null) await once(holder, 'exit')
  })
  const logFile = join(directory, 'console.log')
  const pid = await firstProcess(holder, logFile)
  const run = runnerIn(pid, groups)
  const ask = async (command: readonly string[], options?: RunOptions): Promise<string> => {
    const { stdout, stderr, exitCode } = await run(command, options)
    if (exitCode === 0) return stdout
    throw new Error(`${command.join(' ')} ended with ${exitCode} on ${name}: ${stderr}`)
  }
  await until(async () => {
    if (holder.exitCode !== null) throw new Error(await readFile(logFile, 'utf8'))
    return (await run(['systemctl', 'is-active', '--quiet', 'ssh'])).exitCode === 0
  })
  const password = (): string => randomBytes(12).toString('base64url')
  const passwords = { root: password(), [operatorName]: password() }
  const lines = Object.entries(passwords).map((pair) => pair.join(':'))
  await ask(['chpasswd'], { input: `${lines.join('\n')}\n` })
  const owned = stack.move()
  return {
    address: host.address,
    passwords,
    async hostKey() {
      const text = await ask(['ssh-keygen', '-lf', `${keyFile}.pub`])
      return text.split(' ')[1] ?? ''
    },
    async renewHostKey() {
      await ask([
        'sh',
        '-ec',
        `rm ${keyFile} ${keyFile}.pub; ${makeKey('')}; systemctl restart ssh`,
      ])
    },
    run,
    ask,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const keyFile = '/etc/ssh/ssh_host_ed25519_key'

function makeKey(root: string): string {
  const command = `ssh-keygen -q -t ed25519 -N '' -f ${keyFile}`
  return root === '' ? command : `chroot ${root} ${command}`
}

/** Makes what is the machine's own: the upper layer of its root, and a disk whose directories can be layers themselves. */
async function makeDisk(directory: string, name: string): Promise<void> {
  const etc = join(directory, 'upper', 'etc')
  for (const each of ['root', 'work', 'lib']) await mkdir(join(directory, each), { mode: 0o755 })
  await mkdir(etc, { recursive: true, mode: 0o755 })
  await writeFile(join(etc, 'machine-id'), `${randomBytes(16).toString('hex')}\n`, { mode: 0o444 })
  await writeFile(join(etc, 'hostname'), `${name}\n`)
  await writeFile(join(etc, 'hosts'), `127.0.0.1 localhost\n127.0.1.1 ${name}\n`)
}

interface BootPlan {
  readonly directory: string
  readonly name: string
  readonly host: TestHost
  readonly groups: ControlGroups
  readonly root: string
}

async function boot(plan: BootPlan): Promise<ChildProcess> {
  const { directory, host, groups } = plan
  const console = await open(join(directory, 'console.log'), 'a')
  const namespaces = ['--mount', '--uts', '--ipc', '--pid', '--cgroup']
  const flags = [...namespaces, '--fork', '--kill-child', '--propagation', 'private']
  const script = `${groups.join}; exec nsenter --net=/run/netns/${host.netns} unshare "$@"`
  const holder = spawn('sh', ['-c', script, 'sh', ...flags, 'sh', '-c', machineScript(plan)], {
    stdio: ['ignore', console.fd, console.fd],
  })
  await once(holder, 'spawn')
  await console.close()
  return holder
}

function machineScript({ directory, name, groups, root }: BootPlan): string {
  const { mounts, changeRoot } = bootScript(groups.mount)
  const layers = `lowerdir=${root},upperdir=${directory}/upper,workdir=${directory}/work`
  return [
    'set -e',
    `hostname ${name}`,
    `mount -t overlay -o ${layers} overlay ${directory}/root`,
    `cd ${directory}/root`,
    // Containers are overlays themselves, which an overlay cannot hold.
    `cp -a var/lib/. ${directory}/lib`,
    `mount --bind ${directory}/lib var/lib`,
    ...mounts,
    'mount -t tmpfs tmpfs tmp',
    makeKey('.'),
    ...changeRoot,
    `exec env -i container=skerry PATH=${path} /lib/systemd/systemd --log-target=console`,
  ].join('\n')
}

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Returns the id of the machine's first process: the child of `unshare`, once it is systemd. */
async function firstProcess(holder: ChildProcess, logFile: string): Promise<number> {
  const task = `/proc/${holder.pid}/task/${holder.pid}/children`
  return until(async () => {
    if (holder.exitCode !== null) {
      throw new Error(`Cannot boot a machine: ${await readFile(logFile, 'utf8')}`)
    }
    const pid = Number((await readFile(task, 'utf8')).trim())
    if (pid === 0) return 0
    const program = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
    return program.trim() === 'systemd' ? pid : 0
  })
}

function runnerIn(pid: number, groups: ControlGroups): TestMachine['run'] {
  const into = ['-t', `${pid}`, '-m', '-u', '-i', '-n', '-p', '-C', `--root=/proc/${pid}/root`]
  const clean = ['env', '-i', `PATH=${path}`, 'HOME=/root', 'LANG=C.UTF-8', 'TERM=dumb']
  const script = `${groups.enter}; exec nsenter "$@"`
  const at = ['sh', '-c', 'cd / && exec "$@"', 'sh']
  return (command, options = {}) =>
    runToEnd(['sh', '-c', script, 'sh', ...into, ...clean, ...at, ...command], options)
}
