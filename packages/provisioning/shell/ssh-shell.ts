import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { ClientChannel, ConnectConfig, SFTPWrapper, Client as SshClient } from 'ssh2'
import {
  abortReason,
  asError,
  linkedSignal,
  unlessAborted,
  withTimeout,
  type Clock,
} from '@skerry/base'
import { provisioningBounds } from '../limits-table.ts'
import { BoundedOutput } from './bounded-output.ts'
import { runScript, wordsOf } from './remote-run.ts'
import {
  ShellError,
  type OpenShell,
  type RunOptions,
  type RunResult,
  type Shell,
  type ShellRequest,
} from '../contract/shell.ts'

const bounds = provisioningBounds.shell

/** Where a login keeps its commands. Each has a directory that no other user can read. */
const scratchParent = '/var/tmp'
/** Where copies arrive, so that one that broke off continues. */
const incoming = '/var/lib/skerry/incoming'

/**
 * Opens machines over SSH. A machine's key is checked before a password or signature is sent. Rejects with a
 * ShellError that names the machine, what is wrong and what to do.
 */
export function sshShells({ clock }: { readonly clock: Clock }): OpenShell {
  return async (request, signal) => {
    const { client, hostKey } = await connect(request, clock, signal)
    await using stack = new AsyncDisposableStack()
    stack.defer(() => {
      client.end()
      client.destroy()
    })
    const parts = { client, clock, hostKey, request }
    const files = new RemoteFiles(await openSftp(parts, signal), parts)
    const runner = new RemoteRunner(files, parts)
    stack.defer(() => runner.leave())
    await runner.prepare(signal)
    return new SshShell({ files, runner, hostKey, user: request.login.user }, stack.move())
  }
}

/** The parts of one opened machine share these. */
interface Opened {
  readonly client: SshClient
  readonly clock: Clock
  readonly hostKey: string
  readonly request: ShellRequest
}

interface Connected {
  readonly client: SshClient
  readonly hostKey: string
}

async function connect(
  { address, ip = address, login, isHostKeyAccepted }: ShellRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<Connected> {
  signal.throwIfAborted()
  // The library is loaded when the first machine is opened: most hubs open none.
  const { Client } = (await import('ssh2')).default
  const client = new Client()
  let hostKey = ''
  let isRefused = false
  const config: ConnectConfig = {
    host: ip,
    port: login.port,
    username: login.user,
    // The time is bounded below, by our clock.
    readyTimeout: 0,
    keepaliveInterval: bounds.keepAliveMs,
    keepaliveCountMax: bounds.keepAlivesMax,
    ...(login.password === undefined ? {} : { password: login.password }),
    ...(login.privateKey === undefined ? {} : { privateKey: login.privateKey }),
    ...(login.passphrase === undefined ? {} : { passphrase: login.passphrase }),
    hostVerifier(key: Buffer) {
      hostKey = fingerprintOf(key)
      isRefused = !isHostKeyAccepted(hostKey)
      return !isRefused
    },
  }
  const late = `no login in ${bounds.connectMsMax / 1_000} s`
  using scope = linkedSignal(signal)
  using _timer = clock.setTimer(bounds.connectMsMax, () => scope.abort(new Error(late)))
  try {
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        client.destroy()
        reject(abortReason(scope.signal))
      }
      scope.signal.addEventListener('abort', onAbort, { once: true })
      const settle = (act: () => void) => () => {
        scope.signal.removeEventListener('abort', onAbort)
        act()
      }
      client.once('ready', settle(resolve))
      client.once(
        'close',
        settle(() => reject(new Error('the machine closed the connection'))),
      )
      // Later errors end the connection; its channels tell their users.
      client.on('error', (error: Error) => settle(() => reject(error))())
      try {
        client.connect(config)
      } catch (error) {
        // The library reads the private key here, before it dials.
        settle(() => reject(new UnreadableKeyError(error)))()
      }
    })
  } catch (error) {
    signal.throwIfAborted()
    client.destroy()
    throw connectError(asError(error), { address, login, hostKey, isRefused })
  }
  return { client, hostKey }
}

function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/** The private key is not one, or its passphrase is wrong. */
class UnreadableKeyError extends Error {
  constructor(cause: unknown) {
    super('the private key cannot be read', { cause })
  }
}

interface Attempt extends Pick<ShellRequest, 'address' | 'login'> {
  readonly hostKey: string
  readonly isRefused: boolean
}

/** The library's words for a failed login and a bad key are not for people, so each gets ours. */
function connectError(error: Error, { address, login, hostKey, isRefused }: Attempt): ShellError {
  const at = `${address}:${login.port}`
  if (isRefused) {
    const text = `Cannot open ${at}: its host key ${hostKey} is not accepted`
    return new ShellError('host-key', text, { cause: hostKey })
  }
  const level: unknown = 'level' in error ? error.level : undefined
  if (level === 'client-authentication') {
    const text = `Cannot log in to ${at} as ${login.user}: the machine accepts neither the password nor the key; correct the Secret`
    return new ShellError('login', text)
  }
  if (error instanceof UnreadableKeyError) {
    const text = `Cannot log in to ${at} as ${login.user}: the private key cannot be read, or its passphrase is wrong; correct the Secret`
    return new ShellError('login', text)
  }
  const text = `Cannot open ${at}: ${error.message}; check that the machine runs and that its SSH can be reached`
  return new ShellError('unreachable', text, { cause: error })
}

async function openSftp(opened: Opened, signal: AbortSignal): Promise<SFTPWrapper> {
  const { address } = opened.request
  try {
    return await answered<SFTPWrapper>((done) => opened.client.sftp(done), opened, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ShellError) throw error
    const text = `Cannot copy files to ${address}: its SSH server has no SFTP (${asError(error).message}); enable "Subsystem sftp"`
    throw new ShellError('file', text, { cause: error })
  }
}

/** Resolves with what the call gives its callback, or rejects if that takes longer than a command may. */
async function answered<Value>(
  call: (done: (error: Error | null | undefined, value: Value) => void) => void,
  { clock, request }: Opened,
  signal: AbortSignal,
): Promise<Value> {
  const ms = bounds.commandMsMax
  const late = `${request.address} did not answer in ${ms / 1_000} s`
  using scope = linkedSignal(signal)
  using _timer = clock.setTimer(ms, () => scope.abort(new ShellError('misbehaves', late)))
  const answer = Promise.withResolvers<Value>()
  call((error, value) => {
    if (error) answer.reject(error)
    else answer.resolve(value)
  })
  return await unlessAborted(answer.promise, scope.signal)
}

/** The files of a machine, as the user of SSH. */
class RemoteFiles {
  readonly #sftp: SFTPWrapper
  readonly #opened: Opened

  constructor(sftp: SFTPWrapper, opened: Opened) {
    this.#sftp = sftp
    this.#opened = opened
  }

  async makeDirectory(path: string, signal: AbortSignal): Promise<void> {
    await this.#do(
      `make directory ${path}`,
      (done) => this.#sftp.mkdir(path, { mode: 0o700 }, done),
      signal,
    )
  }

  /** Writes a new file that only this user can read. */
  async write(path: string, content: Buffer, signal: AbortSignal): Promise<void> {
    const options = { mode: 0o600, flag: 'wx' as const }
    await this.#do(
      `write ${path}`,
      (done) => this.#sftp.writeFile(path, content, options, done),
      signal,
    )
  }

  /** Removes a directory with its files, as well as it can. */
  async empty(path: string, signal: AbortSignal): Promise<void> {
    const names = await answered<readonly { filename: string }[]>(
      (done) => this.#sftp.readdir(path, done),
      this.#opened,
      signal,
    ).catch(() => [])
    for (const { filename } of names) {
      if (filename.includes('/') || /^\.+$/.test(filename)) continue
      const file = posix.join(path, filename)
      const removed = this.#do(`remove ${file}`, (done) => this.#sftp.unlink(file, done), signal)
      await removed.catch(() => undefined)
    }
    const gone = this.#do(`remove ${path}`, (done) => this.#sftp.rmdir(path, done), signal)
    await gone.catch(() => undefined)
  }

  /** Resolves with the file's length; 0 if it does not exist. */
  async length(path: string, signal: AbortSignal): Promise<number> {
    try {
      const stats = await answered<{ size: number }>(
        (done) => this.#sftp.stat(path, done),
        this.#opened,
        signal,
      )
      return stats.size
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof Error && 'code' in error && error.code === noSuchFile) return 0
      throw this.#fileError(`look at ${path}`, error)
    }
  }

  /** Appends the rest of a file of this machine. */
  async append(
    from: string,
    { path, start }: { readonly path: string; readonly start: number },
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await pipeline(
        createReadStream(from, { start }),
        this.#sftp.createWriteStream(path, { flags: start === 0 ? 'w' : 'r+', start, mode: 0o600 }),
        { signal },
      )
    } catch (error) {
      signal.throwIfAborted()
      throw this.#fileError(`write ${path}`, error)
    }
  }

  async #do(
    what: string,
    call: (done: (error: Error | null | undefined) => void) => void,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await answered<void>((done) => call((error) => done(error, undefined)), this.#opened, signal)
    } catch (error) {
      signal.throwIfAborted()
      throw this.#fileError(what, error)
    }
  }

  #fileError(what: string, error: unknown): ShellError {
    if (error instanceof ShellError) return error
    const { address } = this.#opened.request
    const { message } = asError(error)
    const text = `Cannot ${what} on ${address}: ${message}; check its free space and permissions`
    return new ShellError('file', text, { cause: error })
  }
}

/** SSH_FX_NO_SUCH_FILE of the SFTP protocol. */
const noSuchFile = 2

/** Runs commands as root, by a constant script that reads each command's words from a file. */
class RemoteRunner {
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
    await this.#files.write(posix.join(this.#directory, 'run'), Buffer.from(runScript), signal)
    for (const way of ['is-root', 'sudo', 'sudo-with-password'] as const) {
      this.#becomesRoot = way
      if (way === 'sudo-with-password' && this.#sudoPassword === undefined) continue
      const { exitCode, stdout } = await this.run(['id', '-u'], { signal })
      if (exitCode === 0 && stdout.trim() === '0') return this.#stay(signal)
    }
    await this.#files.empty(this.#directory, signal)
    const { address, login } = this.#opened.request
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
    const { clock, request } = this.#opened
    const message = `${request.address} did not end a command`
    const options = { clock, ms: bounds.endSeconds * 1_000, message }
    const ending = withTimeout(options, new AbortController().signal, (scope) =>
      this.#start(call, scope),
    )
    await ending.catch(() => undefined)
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
    const { clock, request } = this.#opened
    const message = `${request.address} did not clean up`
    const options = { clock, ms: bounds.endSeconds * 1_000, message }
    const leaving = withTimeout(options, new AbortController().signal, (scope) =>
      unlessAborted(this.#left.promise, scope),
    )
    await leaving.catch(() => undefined)
  }
}

/** One call of the script on the machine. */
interface RemoteCall {
  readonly number: number
  readonly input: Uint8Array | string
  /** The seconds after which the machine itself ends the command; or that it ends it now. */
  readonly last: string
}

interface ShellParts {
  readonly files: RemoteFiles
  readonly runner: RemoteRunner
  /** The user of SSH, who must be able to write what is copied. */
  readonly user: string
  readonly hostKey: string
}

class SshShell implements Shell {
  readonly hostKey: string
  readonly #parts: ShellParts
  readonly #owned: AsyncDisposable

  constructor(parts: ShellParts, owned: AsyncDisposable) {
    this.hostKey = parts.hostKey
    this.#parts = parts
    this.#owned = owned
  }

  run(command: readonly [string, ...string[]], options?: RunOptions): Promise<RunResult> {
    return this.#parts.runner.run(command, options)
  }

  async write(path: string, content: Uint8Array | string, mode: number): Promise<void> {
    const next = `${path}.skerry-new`
    await this.#must(['install', '-D', '-m', octal(mode), '/dev/stdin', next], content)
    await this.#must(['mv', '-fT', '--', next, path])
  }

  async upload(from: string, to: string, mode: number, signal: AbortSignal): Promise<void> {
    const digest = await digestOf(from, signal)
    if ((await this.#remoteDigest(to)) === digest) return
    const { size } = await stat(from)
    const { files, user } = this.#parts
    await this.#must(['install', '-d', '-m', '0711', '/var/lib/skerry'])
    await this.#must(['install', '-d', '-m', '0700', '-o', user, incoming])
    const part = posix.join(incoming, digest)
    const known = await files.length(part, signal)
    const start = known <= size ? known : 0
    if (start < size || size === 0) await files.append(from, { path: part, start }, signal)
    if ((await this.#remoteDigest(part)) !== digest) {
      await this.#must(['rm', '-f', '--', part])
      throw new ShellError('file', `Cannot copy ${to}: the copy differs from the original`)
    }
    await this.#must(['install', '-D', '-m', octal(mode), '--', part, `${to}.skerry-new`])
    await this.#must(['mv', '-fT', '--', `${to}.skerry-new`, to])
    await this.#must(['rm', '-f', '--', part])
  }

  async #remoteDigest(path: string): Promise<string> {
    const { exitCode, stdout } = await this.run(['sha256sum', '--', path], {
      timeoutMs: bounds.digestMsMax,
    })
    return exitCode === 0 ? (/^\\?([0-9a-f]{64}) /.exec(stdout)?.[1] ?? '') : ''
  }

  async #must(command: readonly [string, ...string[]], input?: Uint8Array | string): Promise<void> {
    const { exitCode, stderr } = await this.run(command, input === undefined ? {} : { input })
    if (exitCode === 0) return
    const why = stderr.trim() || `${command[0]} exited with ${exitCode}`
    throw new ShellError('file', `Cannot write to ${command.at(-1)}: ${why}`)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#owned[Symbol.asyncDispose]())
  }
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash, { signal })
  return hash.digest('hex')
}
