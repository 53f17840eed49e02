import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestHost } from '@skerry/testing'

const root = join(import.meta.dirname, '../..')

/**
 * The program as its launcher starts it, without the launcher's look at the npm packages: the bundle that `./skerry test`
 * names, which starts in half the time, or the sources.
 */
export const skerryCommand: readonly string[] = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  process.env['SKERRY_TEST_PROGRAM'] ?? join(root, 'cmd', 'skerry.ts'),
]

export const skerryEnv: Readonly<Record<string, string>> = {
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compile'),
}

export interface RolePlan {
  host: TestHost
  name: string
  command: readonly string[]
  logFile: string
}

/** One role of the program as a separate process: started, killed, stopped, started again. */
export class RoleProcess {
  readonly name: string
  readonly logFile: string
  readonly #plan: RolePlan
  #child: ChildProcess | undefined

  constructor(plan: RolePlan) {
    this.name = plan.name
    this.logFile = plan.logFile
    this.#plan = plan
  }

  async start(): Promise<void> {
    if (this.isRunning) throw new Error(`Cannot start ${this.name}: it runs`)
    const log = await open(this.logFile, 'a')
    this.#child = this.#plan.host.start(this.#plan.command, {
      stdio: ['ignore', log.fd, log.fd],
      env: { ...process.env, ...skerryEnv },
    })
    await once(this.#child, 'spawn')
    await log.close()
  }

  get isRunning(): boolean {
    const child = this.#child
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  get pid(): number {
    const pid = this.#child?.pid
    if (pid === undefined) throw new Error(`Cannot name the process of ${this.name}: none runs`)
    return pid
  }

  /** Kills it, as a crash or an out-of-memory kill does. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** Stops it in order; resolves with the exit code. */
  async stop(): Promise<number | null> {
    await this.#end('SIGTERM')
    return this.#child?.exitCode ?? null
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (child === undefined || !this.isRunning) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
}
