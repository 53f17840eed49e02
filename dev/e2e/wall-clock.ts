import { execFile } from 'node:child_process'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { skerryCommand } from './role-process.ts'

/**
 * The wall clock of one machine, as its processes see it: it can be set while they run, and keeps its offset
 * when they start again. All processes of a kernel share one wall clock, so libfaketime stands between them
 * and it. Monotonic time is not changed, as when a person or NTP sets a clock.
 */
export class WallClock implements AsyncDisposable {
  /** The program, under this clock. */
  readonly command: readonly string[]
  readonly #directory: string

  private constructor(directory: string, library: string) {
    this.#directory = directory
    this.command = [
      'env',
      `LD_PRELOAD=${library}`,
      `FAKETIME_TIMESTAMP_FILE=${join(directory, 'offset')}`,
      // The number of seconds after which a process reads the file again.
      'FAKETIME_CACHE_DURATION=1',
      'DONT_FAKE_MONOTONIC=1',
      'NO_FAKE_STAT=1',
      ...skerryCommand,
    ]
  }

  /** Starts a clock that is right. */
  static async start(): Promise<WallClock> {
    // The library's path depends on the system: the program faketime reports it.
    const words = ['-f', '+0', 'printenv', 'LD_PRELOAD']
    const { stdout } = await promisify(execFile)('faketime', words)
    const directory = await mkdtemp(join(tmpdir(), 'skerry-e2e-clock-'))
    const clock = new WallClock(directory, stdout.trim())
    await clock.set('+0')
    return clock
  }

  /** Sets the clock's offset in libfaketime's syntax, e.g. +2y, -1d. */
  async set(offset: string): Promise<void> {
    const next = join(this.#directory, 'next')
    await writeFile(next, `${offset}\n`)
    await rename(next, join(this.#directory, 'offset'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true })
  }
}
