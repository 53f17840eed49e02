import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { engineFlags } from '../../roles/runtime/engine-flags.ts'
import { launcherEnvironment } from './launcher-environment.ts'

export interface RoleProcessOptions {
  /** The bundle's entry. */
  readonly program: string
  readonly role: string
  readonly args: readonly string[]
  /** The directory of the role's log, <directory>/<role>.log, which is appended to. */
  readonly directory: string
  readonly compileCache: string
}

/** A role as `skerry up` starts it, and the time it took to its `ready`. */
export interface RoleProcess extends AsyncDisposable {
  readonly readyMs: number
  readonly pid: number
}

export async function startRoleProcess(options: RoleProcessOptions): Promise<RoleProcess> {
  const { program, role, args, directory } = options
  await using log = await open(join(directory, `${role}.log`), 'a')
  const flags = ['--disable-warning=ExperimentalWarning', ...(engineFlags[role] ?? [])]
  const environment = { ...process.env, ...(await launcherEnvironment(role)) }
  const startMs = performance.now()
  const child = spawn(process.execPath, [...flags, program, role, ...args], {
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
    env: { ...environment, NODE_COMPILE_CACHE: options.compileCache },
  })
  await untilReady(child, join(directory, `${role}.log`))
  const readyMs = performance.now() - startMs
  if (child.pid === undefined) throw new Error(`Cannot start ${role}: no process`)
  return { readyMs, pid: child.pid, [Symbol.asyncDispose]: () => stop(child) }
}

async function untilReady(child: ChildProcess, logFile: string): Promise<void> {
  const ended = Promise.withResolvers<never>()
  const onExit = (code: number | null): void =>
    ended.reject(new Error(`Cannot start role: exit code ${code}; see ${logFile}`))
  child.once('exit', onExit)
  try {
    await Promise.race([
      once(child, 'message', { signal: AbortSignal.timeout(60_000) }),
      ended.promise,
    ])
  } finally {
    child.off('exit', onExit)
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), 20_000)
  await exited
  clearTimeout(killer)
}

/** The memory of a process, in MB (10^6 bytes); `anonymous` leaves out pages of files. */
export interface Memory {
  readonly resident: number
  readonly anonymous: number
}

export async function memoryOf(pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kibibytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
  const toMegabytes = (value: number): number => (value * 1_024) / 1e6
  return {
    resident: toMegabytes(kibibytes('VmRSS')),
    anonymous: toMegabytes(kibibytes('RssAnon')),
  }
}

const ticksPerSecond = 100

/** Returns the time on processors since the process started, in milliseconds. */
export async function processorMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  return (ticks * 1_000) / ticksPerSecond
}
