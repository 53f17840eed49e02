import { execFile, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, copyFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until, type CommandResult, type RunOptions, type TestHost } from '@skerry/testing'
import { architectures, type MachineArchitecture } from './architectures-table.ts'
import { kernelWords } from './kernel-words.ts'
import { systemImage, type SystemImage } from './system-image.ts'

const execute = promisify(execFile)

/**
 * A Debian server with a kernel of its own on an emulated processor, twelve times slower than the host. Its disk loses
 * what was not flushed when the power is cut.
 */
export interface VirtualMachine extends AsyncDisposable {
  readonly name: string
  readonly address: string
  /** Switches it on; resolves when sshd answers, with the time that it took, in milliseconds. */
  start(): Promise<number>
  /** Cuts its power. */
  cut(): Promise<void>
  /** Restarts it properly; resolves as start does. */
  reboot(): Promise<number>
  /** Runs a command as root over SSH; never throws for an exit code. */
  run(command: readonly string[], options?: RunOptions): Promise<CommandResult>
  /** Returns what the command prints; throws unless it ends with 0. */
  ask(command: readonly string[], options?: RunOptions): Promise<string>
}

export interface VirtualMachineOptions {
  readonly name: string
  /** The host whose place in the network the machine takes. */
  readonly host: TestHost
  /** The host from which commands reach it over SSH. */
  readonly from: TestHost
  /** Default: 768. */
  readonly memoryMegabytes?: number
  /** Default: x64. */
  readonly architecture?: MachineArchitecture
}

/** Returns why virtual machines cannot run here, in one line, or false if they can. */
export async function whyNoVirtualMachine(
  architecture: MachineArchitecture = 'x64',
): Promise<string | false> {
  const { emulator, emulatorPackage } = architectures[architecture]
  for (const path of [emulator, '/usr/bin/mmdebstrap', '/usr/sbin/mke2fs', '/usr/bin/cpio']) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) continue
    return `needs ${path}: apt-get install ${emulatorPackage} mmdebstrap e2fsprogs cpio xz-utils openssh-client`
  }
  return false
}

/** Returns the path of the private key of every machine's root user. */
export async function virtualMachineKey(architecture?: MachineArchitecture): Promise<string> {
  return (await systemImage(architecture)).key
}

/** Makes a machine, which is off. */
export async function makeVirtualMachine(options: VirtualMachineOptions): Promise<VirtualMachine> {
  const image = await systemImage(options.architecture)
  const directory = await mkdtemp(join(tmpdir(), 'skerry-vm-'))
  await copyFile(image.disk, join(directory, 'disk'), constants.COPYFILE_FICLONE)
  await plugIn(options.host)
  return new EmulatedMachine(options, { image, directory })
}

/** Gives the host's cable to a machine in it: the address is the machine's from now on. */
async function plugIn({ netns, address }: TestHost): Promise<void> {
  const ip = (...words: string[]) => execute('ip', ['-n', netns, ...words])
  await ip('address', 'delete', `${address}/24`, 'dev', 'eth0')
  await ip('link', 'add', 'inside', 'type', 'bridge')
  await ip('link', 'set', 'eth0', 'master', 'inside')
  await ip('tuntap', 'add', 'tap0', 'mode', 'tap')
  await ip('link', 'set', 'tap0', 'master', 'inside', 'up')
  await ip('link', 'set', 'inside', 'up')
}

interface MachineFiles {
  readonly image: SystemImage
  readonly directory: string
}

class EmulatedMachine implements VirtualMachine {
  readonly name: string
  readonly address: string
  readonly #options: VirtualMachineOptions
  readonly #files: MachineFiles
  #disk: ChildProcess | undefined
  #processor: ChildProcess | undefined

  constructor(options: VirtualMachineOptions, files: MachineFiles) {
    this.name = options.name
    this.address = options.host.address
    this.#options = options
    this.#files = files
  }

  async start(): Promise<number> {
    const startMs = performance.now()
    const { host } = this.#options
    const { directory } = this.#files
    const socket = join(directory, 'disk.socket')
    await rm(socket, { force: true })
    const disk = join(import.meta.dirname, 'volatile-disk.ts')
    const command = [process.execPath, disk, join(directory, 'disk'), socket]
    this.#disk = host.start(command, { stdio: ['ignore', 'ignore', 'inherit'] })
    await until(() => stat(socket).then(Boolean, () => false))
    const { architecture = 'x64' } = this.#options
    const words = this.#words(socket, await kernelWords(architecture))
    const { emulator } = architectures[architecture]
    this.#processor = host.start([emulator, ...words], { stdio: 'ignore' })
    await this.#untilReached()
    return performance.now() - startMs
  }

  async #untilReached(): Promise<void> {
    const endMs = performance.now() + bootMsMax
    while ((await this.run(['true'], { timeoutMs: 15_000 })).exitCode !== 0) {
      const { exitCode = null } = this.#processor ?? {}
      if (exitCode !== null) throw new Error(`${this.name}: the emulator ended with ${exitCode}`)
      if (performance.now() > endMs) throw new Error(await this.#silence())
    }
  }

  async #silence(): Promise<string> {
    const console = await readFile(join(this.#files.directory, 'console.log'), 'utf8')
    return `${this.name} does not answer over SSH; its console says:\n${console.slice(-2_000)}`
  }

  #words(socket: string, kernel: string): string[] {
    const { image, directory } = this.#files
    const { memoryMegabytes = 768, architecture = 'x64' } = this.#options
    const last = Number(this.address.split('.').at(-1)).toString(16).padStart(2, '0')
    const lines = [
      `${architectures[architecture].board} -accel tcg,thread=multi,tb-size=256 -smp 1`,
      '-nodefaults -no-user-config',
      `-display none -m ${memoryMegabytes} -serial file:${join(directory, 'console.log')}`,
      `-kernel ${image.kernel} -initrd ${image.initrd}`,
      `-blockdev driver=nbd,node-name=d,server.type=unix,server.path=${socket}`,
      '-device virtio-blk-pci,drive=d,write-cache=on -device virtio-rng-pci',
      '-netdev tap,id=n,ifname=tap0,script=no,downscript=no',
      `-device virtio-net-pci,netdev=n,mac=52:54:00:13:00:${last},romfile=`,
    ]
    const words = lines.flatMap((line) => line.split(' '))
    return [
      ...words,
      '-append',
      `${kernel} skerry.name=${this.name} skerry.address=${this.address}`,
    ]
  }

  async cut(): Promise<void> {
    await end(this.#processor)
    await end(this.#disk)
  }

  async reboot(): Promise<number> {
    const startMs = performance.now()
    const bootOf = async () => (await this.run(['cat', '/proc/sys/kernel/random/boot_id'])).stdout
    const before = await bootOf()
    await this.run(['systemctl', 'reboot'], { timeoutMs: 30_000 })
    const endMs = performance.now() + bootMsMax
    for (let now = ''; now === '' || now === before; now = await bootOf()) {
      if (performance.now() > endMs) throw new Error(`${this.name} does not come back`)
    }
    return performance.now() - startMs
  }

  run(command: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
    const { from } = this.#options
    const settings = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR']
    const flags = [...settings, 'ConnectTimeout=10'].flatMap((each) => ['-o', each])
    const login = ['-i', this.#files.image.key, `root@${this.address}`]
    return from.run(['ssh', ...flags, ...login, '--', command.map(quoted).join(' ')], options)
  }

  async ask(command: readonly string[], options?: RunOptions): Promise<string> {
    const { stdout, stderr, exitCode } = await this.run(command, options)
    if (exitCode === 0) return stdout
    throw new Error(`${command.join(' ')} ended with ${exitCode} on ${this.name}: ${stderr}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cut()
    await rm(this.#files.directory, { recursive: true, force: true })
  }
}

const bootMsMax = 400_000

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Returns the word as the shell behind sshd reads it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
