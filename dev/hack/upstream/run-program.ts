import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { join } from 'node:path'

export interface ProgramOptions {
  /** The path of the program. */
  readonly path: string
  readonly args: readonly string[]
  /** The file to which its output is appended. */
  readonly logPath: string
  /** The environment in addition to this process's own. */
  readonly environment?: Readonly<Record<string, string>>
}

/** The maximum time between SIGTERM and SIGKILL. */
const stopMsMax = 20_000

export interface RunningProgram extends AsyncDisposable {
  readonly pid: number
}

/** Runs until it is disposed; the kernel ends it with us, however we end. */
export async function runProgram(options: ProgramOptions): Promise<RunningProgram> {
  const log = await open(options.logPath, 'a')
  const command = ['--pdeathsig', 'KILL', options.path, ...options.args]
  const child = spawn('setpriv', command, {
    stdio: ['ignore', log.fd, log.fd],
    ...(options.environment ? { env: { ...process.env, ...options.environment } } : {}),
  })
  await log.close()
  if (child.pid === undefined) throw new Error(`Cannot start ${options.path}: no process`)
  return { pid: child.pid, [Symbol.asyncDispose]: () => stop(child) }
}

/** A program and its log of the same name. */
export function programIn(bin: string, directory: string, name: string) {
  return { path: join(bin, name), logPath: join(directory, `${name}.log`) }
}

/** Returns `--name=value` of each flag. */
export function argumentsOf(flags: Readonly<Record<string, string>>): string[] {
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), stopMsMax)
  await exited
  clearTimeout(killer)
}
