import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { asError, type Clock, type Logger } from '@skerry/base'
import { apiServerBounds, auditLogDefaults } from '../limits-table.ts'

export interface AuditLogOptions {
  /**
   * The approximate size at which a file is renamed to <path>.1, the former <path>.1 to <path>.2,
   * and so on.
   */
  readonly fileBytesMax: number
  /** The number of files, including the current one. */
  readonly filesMax: number
  /** Older files, by their last write, are removed at the start and with each new file. */
  readonly fileAgeMsMax: number
  /**
   * The limit of bytes that wait for a slow or full disk. Further lines are lost, and the log
   * counts them.
   */
  readonly waitingBytesMax: number
  /** Called with the number of lost lines. */
  readonly onLost?: (lines: number) => void
}

const { retryMs, restMs } = apiServerBounds.auditLog

/** Appends lines to a file in order, a few milliseconds late, so that no caller waits for the disk. */
export interface AuditLog extends AsyncDisposable {
  write(line: string): void
}

export async function openAuditLog(
  path: string,
  options: Partial<AuditLogOptions>,
  deps: { readonly log: Logger; readonly clock: Clock },
): Promise<AuditLog> {
  const all = { ...auditLogDefaults, ...options }
  await removeOldFiles(path, all, deps.clock)
  const file = await open(path, 'a', 0o600)
  const { size } = await file.stat()
  return new RotatingLog({ path, file, size }, all, deps)
}

async function removeOldFiles(
  path: string,
  { filesMax, fileAgeMsMax }: AuditLogOptions,
  clock: Clock,
): Promise<void> {
  if (fileAgeMsMax === Number.POSITIVE_INFINITY) return
  for (let number = 1; number < filesMax; number++) {
    const old = `${path}.${number}`
    const found = await stat(old).catch(ignoreMissing)
    if (found && clock.now() - found.mtimeMs > fileAgeMsMax) await rm(old, { force: true })
  }
}

class RotatingLog implements AuditLog {
  readonly #path: string
  readonly #options: AuditLogOptions
  readonly #log: Logger
  readonly #clock: Clock
  #file: FileHandle
  #size: number
  #waiting: string[] = []
  #waitingBytes = 0
  /** The bytes taken from the queue that are not on the disk yet. */
  #writingBytes = 0
  #lost = 0
  #writing: Promise<void> | undefined
  readonly #closing = new AbortController()

  constructor(
    opened: { path: string; file: FileHandle; size: number },
    options: AuditLogOptions,
    { log, clock }: { log: Logger; clock: Clock },
  ) {
    this.#path = opened.path
    this.#file = opened.file
    this.#size = opened.size
    this.#options = options
    this.#log = log
    this.#clock = clock
  }

  write(line: string): void {
    if (this.#waitingBytes + this.#writingBytes > this.#options.waitingBytesMax) {
      this.#lost += 1
      this.#options.onLost?.(1)
      return
    }
    this.#waiting.push(line)
    this.#waitingBytes += line.length
    this.#writing ??= this.#drain()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('The audit log closes'))
    await this.#writing
    await this.#file.close()
  }

  /** Never rejects: a full disk must not stop the server, but it is logged. */
  async #drain(): Promise<void> {
    // Lines of the same turn are written together.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const bytes = Buffer.from(this.#take())
      await this.#append(bytes)
      this.#writingBytes = 0
      this.#size += bytes.length
      if (this.#size >= this.#options.fileBytesMax) await this.#rotate()
      await this.#pause(restMs)
    }
    this.#writing = undefined
  }

  /** Retries until the disk takes the bytes. Lines that arrive meanwhile wait in the queue. */
  async #append(bytes: Uint8Array): Promise<void> {
    let written = 0
    let isHeldUp = false
    while (written < bytes.length) {
      try {
        written += (await this.#file.write(bytes, written)).bytesWritten
      } catch (error) {
        const isLast = this.#closing.signal.aborted
        const text = isLast ? 'Audit records lost' : 'Audit records wait for the disk'
        if (isLast || !isHeldUp) this.#log.error(text, { path: this.#path, error: causeOf(error) })
        if (isLast) return
        isHeldUp = true
        // The end of the log wakes this; there is one more try.
        await this.#pause(retryMs)
      }
    }
    if (isHeldUp) this.#log.info('Audit records are written again', { path: this.#path })
  }

  /** Waits, or returns early if the log is closing. */
  async #pause(ms: number): Promise<void> {
    if (this.#closing.signal.aborted) return
    await this.#clock.sleep(ms, this.#closing.signal).catch(() => undefined)
  }

  #take(): string {
    const lost = this.#lost === 0 ? '' : `${JSON.stringify({ lostRecords: this.#lost })}\n`
    const text = `${this.#waiting.join('')}${lost}`
    this.#waiting = []
    this.#writingBytes = this.#waitingBytes
    this.#waitingBytes = 0
    this.#lost = 0
    return text
  }

  /** If there is no space for another file, this one keeps growing. */
  async #rotate(): Promise<void> {
    const nextPath = `${this.#path}.next`
    try {
      const next = await open(nextPath, 'a', 0o600)
      for (let number = this.#options.filesMax - 1; number >= 1; number--) {
        const from = number === 1 ? this.#path : `${this.#path}.${number - 1}`
        await rename(from, `${this.#path}.${number}`).catch(ignoreMissing)
      }
      await rename(nextPath, this.#path)
      await this.#file.close()
      this.#file = next
      this.#size = 0
      await removeOldFiles(this.#path, this.#options, this.#clock)
    } catch (error) {
      this.#log.error('Audit log not rotated', { path: this.#path, error: causeOf(error) })
    }
  }
}

function causeOf(error: unknown): Error {
  return asError(error)
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
}
