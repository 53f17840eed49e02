import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { ConnectConfig, Client as SshClient } from 'ssh2'
import { abortReason, asError, linkedSignal, type Clock } from '@skerry/base'
import { provisioningBounds } from '../limits-table.ts'
import { openSftp, RemoteFiles } from './remote-files.ts'
import { RemoteRunner } from './remote-runner.ts'
import {
  ShellError,
  type OpenShell,
  type RunOptions,
  type RunResult,
  type Shell,
  type ShellRequest,
} from '../contract/shell.ts'

const bounds = provisioningBounds.shell

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
