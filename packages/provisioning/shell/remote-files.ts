import { posix } from 'node:path'
import type { SFTPWrapper, Client as SshClient } from 'ssh2'
import { asError, linkedSignal, unlessAborted, type Clock, type LinkedSignal } from '@skerry/base'
import { ShellError, type ShellRequest } from '../contract/shell.ts'
import { provisioningBounds } from '../limits-table.ts'
import { openOwnFile } from './own-file.ts'

const bounds = provisioningBounds.shell

/** The parts of one opened machine share these. */
export interface Opened {
  readonly client: SshClient
  readonly clock: Clock
  readonly hostKey: string
  readonly request: ShellRequest
  /** Aborts with a ShellError when the connection has ended. */
  readonly closed: AbortSignal
}

/** Returns a signal that aborts with this one, or when the connection has ended. */
function untilClosed({ closed }: Opened, signal: AbortSignal): LinkedSignal {
  const scope = linkedSignal(signal)
  const onClosed = (): void => scope.abort(closed.reason)
  if (closed.aborted) onClosed()
  else closed.addEventListener('abort', onClosed, { once: true })
  return {
    ...scope,
    [Symbol.dispose]() {
      closed.removeEventListener('abort', onClosed)
      scope[Symbol.dispose]()
    },
  }
}

export async function openSftp(opened: Opened, signal: AbortSignal): Promise<SFTPWrapper> {
  const { address, login } = opened.request
  try {
    return await answered<SFTPWrapper>((done) => opened.client.sftp(done), opened, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ShellError) throw error
    const text = `Cannot copy files to ${address}: its SSH server has no SFTP (${asError(error).message}); enable "Subsystem sftp", and let no start-up file of ${login.user}, such as ~/.bashrc, print anything`
    throw new ShellError('file', text, { cause: error })
  }
}

/** Resolves with what the call gives its callback. Rejects if that takes longer than a command may, or the connection ends. */
export async function answered<Value>(
  call: (done: (error: Error | null | undefined, value: Value) => void) => void,
  opened: Opened,
  signal: AbortSignal,
): Promise<Value> {
  const { clock, request } = opened
  const ms = bounds.commandMsMax
  const late = `${request.address} did not answer in ${ms / 1_000} s`
  using scope = untilClosed(opened, signal)
  using _timer = clock.setTimer(ms, () => scope.abort(new ShellError('misbehaves', late)))
  const answer = Promise.withResolvers<Value>()
  call((error, value) => {
    if (error) answer.reject(error)
    else answer.resolve(value)
  })
  return await unlessAborted(answer.promise, scope.signal)
}

/** The files of a machine, as the user of SSH. */
export class RemoteFiles {
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

  /** Removes a directory with these files, as well as it can. The machine is not asked for a list, which might never end. */
  async remove(path: string, names: readonly string[], signal: AbortSignal): Promise<void> {
    for (const name of names) {
      const file = posix.join(path, name)
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

  /** Copies a file of this machine. If a part of it is there, only the rest is copied; the caller compares the result. */
  async continue(
    from: string,
    { path, size }: { readonly path: string; readonly size: number },
    signal: AbortSignal,
  ): Promise<void> {
    const known = await this.length(path, signal)
    const start = known <= size ? known : 0
    if (start < size || size === 0) await this.#append(from, { path, start }, signal)
  }

  /** Appends the rest of a file of this machine. */
  async #append(
    from: string,
    { path, start }: { readonly path: string; readonly start: number },
    signal: AbortSignal,
  ): Promise<void> {
    using scope = untilClosed(this.#opened, signal)
    try {
      const flags = start === 0 ? 'w' : 'r+'
      const handle = await answered<Buffer>(
        (done) => this.#sftp.open(path, flags, { mode: 0o600 }, done),
        this.#opened,
        scope.signal,
      )
      try {
        await this.#send(from, { handle, start }, scope.signal)
      } finally {
        const closed = answered<void>(
          (done) => this.#sftp.close(handle, (error) => done(error, undefined)),
          this.#opened,
          scope.signal,
        )
        await closed.catch(() => undefined)
      }
    } catch (error) {
      signal.throwIfAborted()
      throw this.#fileError(`write ${path}`, error)
    }
  }

  /** Some pieces are on their way at a time, in order: one that waited for the other would cost a round trip each. */
  async #send(
    from: string,
    { handle, start }: { readonly handle: Buffer; readonly start: number },
    signal: AbortSignal,
  ): Promise<void> {
    const sending: Promise<void>[] = []
    let position = start
    await using file = await openOwnFile(from)
    const reading = { start, highWaterMark: bounds.pieceBytes, autoClose: false }
    const pieces = file.createReadStream(reading)
    for await (const piece of pieces as AsyncIterable<Buffer>) {
      const at = position
      position += piece.length
      const sent = answered<void>(
        (done) =>
          this.#sftp.write(handle, piece, 0, piece.length, at, (error) => done(error, undefined)),
        this.#opened,
        signal,
      )
      // Every error is waited for below; this keeps one from ending the process meanwhile.
      sent.catch(() => undefined)
      sending.push(sent)
      if (sending.length >= bounds.piecesAtOnce) await sending.shift()
    }
    await Promise.all(sending)
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
