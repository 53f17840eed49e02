import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '@skerry/testing'
import { freePort } from '../../processes/free-port.ts'
import { kernelWords } from './kernel-words.ts'
import { saveState } from './monitor.ts'
import { mountScript, shellPort, type QuickImage } from './quick-image.ts'

const execute = promisify(execFile)
const emulator = '/usr/bin/qemu-system-x86_64'

/** How much of what was not flushed is on the disk after a power cut: nothing, or half of the sectors. */
export type Kept = 'nothing' | 'half'

/**
 * A machine that boots in seconds and has a disk that loses what was not flushed. Its kernel has started once, until it
 * would mount the disk; each boot goes on from there, without memory of the disk, and mounts it again.
 */
export interface QuickMachine extends AsyncDisposable {
  /**
   * Switches it on; resolves when the disk is mounted, with the time that it took, in milliseconds. The seed chooses the
   * sectors that the next cut keeps.
   */
  boot(seed: number): Promise<number>
  cut(kept: Kept): Promise<void>
  /** Returns what the script prints in the machine's root; throws unless it ends with 0. */
  run(script: string, options?: RunOptions): Promise<string>
  /**
   * Gives the held program the disk and this text, in the file /run/go, and passes its output on. Resolves with the output
   * when it ends; rejects when the power is cut.
   */
  release(text: string, options?: RunOptions): Promise<string>
  /** Returns the port of loopback on the host that leads to a port of the machine. */
  hostPort(port: number): number
}

export interface QuickMachineOptions {
  readonly image: QuickImage
  /** Ports that the host reaches. */
  readonly ports: readonly number[]
  readonly memoryMegabytes: number
  /**
   * A command that starts once, before the machine's disk is there, so that no boot has to wait for it. Its program must
   * wait for the file /run/go before it looks at /var/lib/skerry; nothing else can be written. Its random numbers may be
   * the same after each boot, so it must be a program for which this does not matter.
   */
  readonly held?: string | undefined
}

export interface RunOptions {
  readonly timeoutMs?: number
  /** Called with each line as it comes. */
  readonly onLine?: (line: string) => void
}

const diskMegabytes = 3_072
const usualMsMax = 600_000
const environment = 'HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const endMark = '@@ended '

/** Makes a machine with an empty disk; it is off. */
export async function makeQuickMachine(options: QuickMachineOptions): Promise<QuickMachine> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-quick-machine-'))
  const ports = new Map<number, number>()
  for (const port of [shellPort, ...options.ports]) ports.set(port, await freePort())
  const machine = new ResumedMachine(options, directory, ports)
  try {
    const disk = join(directory, 'disk')
    await execute('mke2fs', ['-q', '-t', 'ext4', disk, `${diskMegabytes}M`])
    await machine.prepare()
    return machine
  } catch (error) {
    await machine[Symbol.asyncDispose]()
    throw error
  }
}

class ResumedMachine implements QuickMachine {
  readonly #options: QuickMachineOptions
  readonly #directory: string
  readonly #ports: ReadonlyMap<number, number>
  #disk: ChildProcess | undefined
  #processor: ChildProcess | undefined
  readonly #onExit = (): void => {
    this.#processor?.kill('SIGKILL')
    this.#disk?.kill('SIGKILL')
    rmSync(this.#directory, { recursive: true, force: true })
  }

  constructor(options: QuickMachineOptions, directory: string, ports: ReadonlyMap<number, number>) {
    this.#options = options
    this.#directory = directory
    this.#ports = ports
    process.once('exit', this.#onExit)
  }

  /** Starts the kernel and stores its state when it waits for the disk. */
  async prepare(): Promise<void> {
    await this.#switchOn([], 0)
    const log = join(this.#directory, 'console.log')
    const waits = async (): Promise<boolean> => {
      if (this.#processor?.exitCode !== null) throw new Error('The emulator ended')
      return (await readFile(log, 'utf8').catch(() => '')).includes('machine waits')
    }
    await until(waits, AbortSignal.timeout(usualMsMax)).catch(async (error: unknown) => {
      const text = await readFile(log, 'utf8').catch(() => '')
      throw new Error(`The kernel does not start:\n${text.slice(-2_000)}`, { cause: error })
    })
    await this.#untilHeard()
    if (this.#options.held !== undefined) await this.#ask(holdScript(this.#options.held))
    await saveState(join(this.#directory, 'monitor'), join(this.#directory, 'state'))
    await this.cut('nothing')
  }

  async boot(seed: number): Promise<number> {
    const startMs = performance.now()
    await this.#switchOn(['-incoming', `exec:cat ${join(this.#directory, 'state')}`], seed)
    await this.#untilHeard()
    const seconds = Math.ceil(Date.now() / 1_000)
    await this.#ask(`date -s @${seconds} > /dev/null\n${mountScript}`)
    // The kernel's random numbers would be those of the boot before. 0x5207 is RNDRESEEDCRNG.
    const news = randomBytes(32).toString('hex')
    const reseed = `open F, "+>", "/dev/urandom"; syswrite F, "${news}"; ioctl(F, 0x5207, 0) or die`
    await this.run(`perl -e '${reseed}'`)
    return performance.now() - startMs
  }

  /** Resolves when the machine runs what it is sent. */
  async #untilHeard(): Promise<void> {
    const signal = AbortSignal.timeout(usualMsMax)
    await until(() => this.#ask('echo up').then(Boolean, () => false), signal)
  }

  async #switchOn(words: readonly string[], seed: number): Promise<void> {
    const socket = join(this.#directory, 'disk.socket')
    await rm(socket, { force: true })
    const program = join(import.meta.dirname, 'volatile-disk.ts')
    this.#disk = spawn(
      process.execPath,
      [program, join(this.#directory, 'disk'), socket, String(seed)],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
    const isThere = () => stat(socket).then(Boolean, () => false)
    await until(isThere, AbortSignal.timeout(usualMsMax))
    const all = [...this.#words(socket, await kernelWords()), ...words]
    this.#processor = spawn(emulator, all, { stdio: ['ignore', 'ignore', 'inherit'] })
  }

  #words(socket: string, kernel: string): string[] {
    const { image, memoryMegabytes } = this.#options
    const forwards = [...this.#ports].map(
      ([guest, host]) => `,hostfwd=tcp:127.0.0.1:${host}-:${guest}`,
    )
    const lines = [
      '-M q35 -accel tcg,thread=multi,tb-size=256 -smp 1 -nodefaults -no-user-config',
      `-display none -m ${memoryMegabytes} -serial file:${join(this.#directory, 'console.log')}`,
      `-kernel ${image.kernel} -initrd ${image.initrd}`,
      `-qmp unix:${join(this.#directory, 'monitor')},server=on,wait=off`,
      `-blockdev driver=file,node-name=a,filename=${image.base},read-only=on`,
      `-blockdev driver=file,node-name=b,filename=${image.program},read-only=on`,
      `-blockdev driver=nbd,node-name=c,server.type=unix,server.path=${socket}`,
      '-device virtio-blk-pci,drive=a -device virtio-blk-pci,drive=b',
      '-device virtio-blk-pci,drive=c,write-cache=on',
      `-netdev user,id=n${forwards.join('')} -device virtio-net-pci,netdev=n,romfile=`,
      '-device virtio-rng-pci',
    ]
    return [...lines.flatMap((line) => line.split(' ')), '-append', kernel]
  }

  async cut(kept: Kept): Promise<void> {
    await end(this.#processor, 'SIGKILL')
    await end(this.#disk, kept === 'half' ? 'SIGUSR2' : 'SIGKILL')
  }

  run(script: string, options?: RunOptions): Promise<string> {
    return this.#ask(`${environment} exec chroot /r /bin/sh -c ${quoted(script)}`, options)
  }

  release(text: string, options?: RunOptions): Promise<string> {
    const script = `mount --bind /d/data /q/var/lib/skerry || exit
      echo ${quoted(text)} > /q/run/go.new
      mv /q/run/go.new /q/run/go
      exec cat /q/run/out`
    return this.#ask(script, options)
  }

  hostPort(port: number): number {
    const found = this.#ports.get(port)
    if (found === undefined) throw new RangeError(`Cannot reach port ${port}: it is not forwarded`)
    return found
  }

  /** Runs a script outside the machine's root, in that of the initrd. */
  async #ask(script: string, { timeoutMs = usualMsMax, onLine }: RunOptions = {}): Promise<string> {
    const socket = createConnection({ host: '127.0.0.1', port: this.hostPort(shellPort) })
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`No end in ${timeoutMs} ms`)))
    socket.write(`sh -c ${quoted(script)} < /dev/null 2>&1\necho "${endMark}$?"\nexit\n`)
    let text = ''
    let told = 0
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      for (let end = text.indexOf('\n', told); end >= 0; end = text.indexOf('\n', told)) {
        onLine?.(text.slice(told, end))
        told = end + 1
      }
    })
    await once(socket, 'close')
    const at = text.lastIndexOf(endMark)
    if (at < 0) throw new Error(`The machine went away during: ${script.slice(0, 80)}\n${text}`)
    const exitCode = Number(text.slice(at + endMark.length))
    if (exitCode === 0) return text.slice(0, at)
    throw new Error(`${script.slice(0, 200)} ended with ${exitCode}: ${text.slice(-2_000)}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#onExit)
    await this.cut('nothing')
    await rm(this.#directory, { recursive: true, force: true })
  }
}

/** Starts the command in a root that has no disk yet; its output waits in a pipe. */
function holdScript(command: string): string {
  const start = `exec 1<>/run/out 2>&1; ${environment} exec env ${command}`
  return `mkdir -p /q
    mount -t overlay o -o lowerdir=/p:/b /q || exit
    mount -t proc p /q/proc
    mount -t devtmpfs d /q/dev
    mount -t tmpfs t /q/run
    mount -t tmpfs t /q/tmp
    mkfifo /q/run/out
    chroot /q /bin/sh -c ${quoted(start)} > /dev/null 2>&1 &
    n=0
    while [ ! -e /q/run/held ] && [ $n -lt 6000 ]; do usleep 100000; n=$((n+1)); done
    [ -e /q/run/held ]`
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
