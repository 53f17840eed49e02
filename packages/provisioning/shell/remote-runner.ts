import { randomBytes } from 'node:crypto'
import { posix } from 'node:path'
import type { ClientChannel } from 'ssh2'
import { linkedSignal, unlessAborted, withTimeout } from '@skerry/base'
import { ShellError, type RunOptions, type RunResult } from '../contract/shell.ts'
import { provisioningBounds } from '../limits-table.ts'
import { BoundedOutput } from './bounded-output.ts'
import { answered, type Opened, type RemoteFiles } from './remote-files.ts'
import { runScript, wordsOf } from './remote-run.ts'

const bounds = provisioningBounds.shell

/** Where a login keeps its commands. Each has a directory that no other user can read. */
const scratchParent = '/var/tmp'

/** Runs commands as root, by a constant script that reads each command's words from a file. */
export class RemoteRunner {
  readonly #files: RemoteFiles
  readonly #opened: Opened
  /** A directory that no other user can read; its name is random, and nobody else has a part in it. */
  readonly #directory = posix.join(scratchParent, `.skerry-${randomBytes(12).toString('hex')}`)
  readonly #left = Promise.withResolvers<void>()
  readonly #waiting: (() => void)[] = []
  #staying: ClientChannel | undefined
  #running = 0
  #count = 0
  #becomesRoot: 'is-root' | 'sudo' | 'sudo-with-password' = 'is-root'

  constructor(files: RemoteFiles, opened: Opened) {
    this.#files = files
    this.#opened = opened
  }

  /** Puts the script in place, and finds out how to become root. */
  async prepare(signal: AbortSignal): Promise<void> {
    await this.#files.makeDirectory(this.#directory, signal)
    try {
      await this.#files.write(posix.join(this.#directory, 'run'), Buffer.from(runScript), signal)
      await this.#becomeRoot(signal)
    } catch (error) {
      signal.throwIfAborted()
      // Nothing on the machine waits for the end of this login yet.
      const words = Array.from({ length: this.#count }, (_, at) => `args-${at + 1}`)
      await this.#asFarAsItGoes((scope) =>
        this.#files.remove(this.#directory, ['run', ...words], scope),
      )
      throw error
    }
    await this.#stay(signal)
  }

  async #becomeRoot(signal: AbortSignal): Promise<void> {
    const { address, login } = this.#opened.request
    for (const way of ['is-root', 'sudo', 'sudo-with-password'] as const) {
      this.#becomesRoot = way
      if (way === 'sudo-with-password' && this.#sudoPassword === undefined) continue
      const { exitCode, stdout } = await this.run(['id', '-u'], { signal })
      if (exitCode !== 0) continue
      if (stdout.trim() === '0') return
      if (/^\d+$/.test(stdout.trim())) continue
      // It would be taken for a part of every answer.
      const text = `Cannot use ${address}: every command prints further text; let no start-up file of ${login.user}, such as ~/.bashrc, print anything`
      throw new ShellError('misbehaves', text)
    }
    throw new ShellError(
      'root',
      `Cannot become root on ${address}: ${login.user} is not root, and sudo does not let it; allow sudo, or put its sudo-password into the Secret`,
    )
  }

  get #sudoPassword(): string | undefined {
    const { sudoPassword, password } = this.#opened.request.login
    return sudoPassword ?? password
  }

  async run(command: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    const { input = '', timeoutMs: ms = bounds.commandMsMax } = options
    const signal = options.signal ?? new AbortController().signal
    const { clock, request } = this.#opened
    const number = (this.#count += 1)
    const words = wordsOf(command, bounds.argumentBytesMax)
    using _place = await this.#place(signal)
    await this.#files.write(posix.join(this.#directory, `args-${number}`), words, signal)
    const late = `${command[0]} on ${request.address} did not end in ${ms / 1_000} s`
    using scope = linkedSignal(signal)
    using _timer = clock.setTimer(ms, () => scope.abort(new ShellError('misbehaves', late)))
    const seconds = Math.ceil(ms / 1_000) + bounds.endSeconds
    try {
      return await this.#start({ number, input, last: `${seconds}` }, scope.signal)
    } catch (error) {
      await this.#end(number)
      throw error
    }
  }

  /** Resolves when one of the places for commands is free: sshd opens ten sessions for a connection, and no more. */
  async #place(signal: AbortSignal): Promise<Disposable> {
    while (this.#running >= bounds.commandsAtOnce) {
      const freed = Promise.withResolvers<void>()
      this.#waiting.push(freed.resolve)
      await unlessAborted(freed.promise, signal)
    }
    this.#running += 1
    return {
      [Symbol.dispose]: () => {
        this.#running -= 1
        // All look again: the first of them may have given up.
        for (const look of this.#waiting.splice(0)) look()
      },
    }
  }

  /** Ends a command that may still run, as well as it can: the connection may be gone. */
  async #end(number: number): Promise<void> {
    const call = { number, input: '', last: 'end' }
    await this.#asFarAsItGoes((scope) => this.#start(call, scope))
  }

  /** Cleans up for a short time, and in silence: something else has failed before. */
  async #asFarAsItGoes(clean: (scope: AbortSignal) => Promise<unknown>): Promise<void> {
    const { clock, request } = this.#opened
    const message = `${request.address} did not clean up`
    const options = { clock, ms: bounds.endSeconds * 1_000, message }
    await withTimeout(options, new AbortController().signal, clean).catch(() => undefined)
  }

  /** The line that SSH's shell reads: constant but for numbers and the random name of the directory. */
  #line({ number, last }: Pick<RemoteCall, 'number' | 'last'>): string {
    const script = `sh ${this.#directory}/run ${number} ${this.#directory} ${last}`
    if (this.#becomesRoot === 'is-root') return `exec ${script}`
    const flags = this.#becomesRoot === 'sudo' ? '-n' : "-k -S -p ''"
    return `exec sudo ${flags} -- ${script}`
  }

  async #start(call: RemoteCall, signal: AbortSignal): Promise<RunResult> {
    const { client, request } = this.#opened
    const channel = await answered<ClientChannel>(
      (done) => client.exec(this.#line(call), done),
      this.#opened,
      signal,
    )
    const ended = Promise.withResolvers<number>()
    const output = new BoundedOutput(bounds.outputBytesMax, () => {
      const text = `a command on ${request.address} printed more than ${bounds.outputBytesMax} bytes`
      ended.reject(new ShellError('misbehaves', text))
    })
    const stdout = output.collector()
    const stderr = output.collector()
    channel.on('data', stdout.add)
    channel.stderr.on('data', stderr.add)
    channel.on('error', (error: Error) => ended.reject(error))
    // A program that was ended by a signal, or whose connection broke, has no code.
    channel.on('close', (code: number | null | undefined) => {
      if (typeof code === 'number') ended.resolve(code)
      else ended.reject(new ShellError('unreachable', `${request.address} ended a command early`))
    })
    if (this.#becomesRoot === 'sudo-with-password') channel.write(`${this.#sudoPassword}\n`)
    channel.end(call.input)
    try {
      const exitCode = await unlessAborted(ended.promise, signal)
      return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
    } finally {
      channel.destroy()
    }
  }

  /** Lets the machine clean up when this login ends. */
  async #stay(signal: AbortSignal): Promise<void> {
    const call = { number: 0, last: 'stay' }
    const channel = await answered<ClientChannel>(
      (done) => this.#opened.client.exec(this.#line(call), done),
      this.#opened,
      signal,
    )
    channel.on('error', () => undefined)
    channel.resume().stderr.resume()
    channel.once('close', () => this.#left.resolve())
    if (this.#becomesRoot === 'sudo-with-password') channel.write(`${this.#sudoPassword}\n`)
    this.#staying = channel
  }

  /** Ends the login, and waits until the machine has removed what it left there; the connection may be gone. */
  async leave(): Promise<void> {
    if (this.#staying === undefined) return
    this.#staying.end()
    await this.#asFarAsItGoes((scope) => unlessAborted(this.#left.promise, scope))
  }
}

/** One call of the script on the machine. */
interface RemoteCall {
  readonly number: number
  readonly input: Uint8Array | string
  /** The seconds after which the machine itself ends the command; or that it ends it now. */
  readonly last: string
}
