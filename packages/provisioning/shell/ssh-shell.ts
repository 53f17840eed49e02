import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Clock } from '@skerry/base'
import { provisioningBounds } from '../limits-table.ts'
import { connectSsh } from './connect-ssh.ts'
import { copyByDigest, incoming } from './copy-by-digest.ts'
import { openSftp, RemoteFiles } from './remote-files.ts'
import { RemoteRunner } from './remote-runner.ts'
import {
  ShellError,
  type DigestedFile,
  type OpenShell,
  type RunOptions,
  type RunResult,
  type Shell,
} from '../contract/shell.ts'

const bounds = provisioningBounds.shell

/**
 * Opens machines over SSH. A machine's key is checked before a password or signature is sent. Rejects with a
 * ShellError that names the machine, what is wrong and what to do.
 */
export function sshShells({ clock }: { readonly clock: Clock }): OpenShell {
  return async (request, signal) => {
    const { client, hostKey } = await connectSsh(request, { clock, peer: 'machine' }, signal)
    await using stack = new AsyncDisposableStack()
    stack.defer(() => {
      client.end()
      client.destroy()
    })
    const closing = new AbortController()
    const gone = `${request.address} closed the connection`
    client.once('close', () => closing.abort(new ShellError('unreachable', gone)))
    const parts = { client, clock, hostKey, request, closed: closing.signal }
    const files = new RemoteFiles(await openSftp(parts, signal), parts)
    const runner = new RemoteRunner(files, parts)
    stack.defer(() => runner.leave())
    await runner.prepare(signal)
    return new SshShell({ files, runner, hostKey, user: request.login.user }, stack.move())
  }
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
    // Without -T, the file would come into a directory of that name.
    await this.#must(['install', '-D', '-T', '-m', octal(mode), '/dev/stdin', next], content)
    await this.#must(['mv', '-fT', '--', next, path])
  }

  async upload(from: string, to: string, mode: number, signal: AbortSignal): Promise<void> {
    const digest = await digestOf(from, signal)
    if ((await this.#remoteDigest(to)) === digest) return
    const { size } = await stat(from)
    const { files, user } = this.#parts
    await this.#openIncoming(user)
    const part = posix.join(incoming, digest)
    await files.continue(from, { path: part, size }, signal)
    if ((await this.#remoteDigest(part)) !== digest) {
      await this.#must(['rm', '-f', '--', part])
      throw new ShellError('file', `Cannot copy ${to}: the copy differs from the original`)
    }
    await this.#must(['install', '-D', '-T', '-m', octal(mode), '--', part, `${to}.skerry-new`])
    await this.#must(['mv', '-fT', '--', `${to}.skerry-new`, to])
    await this.#must(['rm', '-f', '--', part])
  }

  async uploadByDigest(
    files: readonly DigestedFile[],
    directory: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { user } = this.#parts
    await this.#openIncoming(user)
    await copyByDigest(files, directory, { shell: this, remote: this.#parts.files, signal })
  }

  async #openIncoming(user: string): Promise<void> {
    await this.#must(['install', '-d', '-m', '0711', '/var/lib/skerry'])
    await this.#must(['install', '-d', '-m', '0700', '-o', user, incoming])
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
