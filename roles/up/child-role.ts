import { type ChildProcess, spawn } from 'node:child_process'
import { open, readFile } from 'node:fs/promises'
import {
  ExpectedError,
  createBackoff,
  exitCodes,
  keepLogBounded,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { programCommand } from '../runtime/program-command.ts'
import { upBounds } from './limits-table.ts'

export interface ChildRoleOptions {
  /** One of hub, site and node. */
  role: string
  /** The arguments after the role's name. Never secrets: those go through files. */
  args: readonly string[]
  /** The child's log lines are appended here. The file is kept small. */
  logFile: string
  /** Flags for the JavaScript engine, e.g. heap bounds. */
  engineFlags: readonly string[]
}

export interface ChildRole {
  /** Resolves at the first `ready`; rejects when the child ends before it. */
  readonly ready: Promise<void>
  /** Resolves when the role was stopped by the signal; rejects never: a dead child is started again. */
  readonly ended: Promise<void>
  readonly pid: () => number | undefined
  /** Returns whether the process that runs now has said that it serves. */
  readonly isReady: () => boolean
  /** Stops it in order, without a restart. */
  stop(): Promise<void>
}

const { stopGraceMs, healthyMs, logTailChars } = upBounds.childRole

/** Keeps a role running as a child process: restarts it with backoff until the signal aborts. */
export function superviseRole(
  options: ChildRoleOptions,
  deps: { clock: Clock; random: Random; log: Logger },
  parent: AbortSignal,
): ChildRole {
  const own = new AbortController()
  const signal = AbortSignal.any([parent, own.signal])
  let child: ChildProcess | undefined
  let isReady = false
  const ready = Promise.withResolvers<void>()
  const run = async (): Promise<void> => {
    const backoff = createBackoff(upBounds.childRole.restart, deps.random)
    while (!signal.aborted) {
      const startMs = deps.clock.monotonicMs()
      await using file = await open(options.logFile, 'a', 0o600)
      child = start(options, file.fd)
      child.on('message', () => {
        isReady = true
        ready.resolve()
      })
      const cause = await waitForEnd(child, signal)
      isReady = false
      if (signal.aborted) return
      ready.reject(await firstFailure(options, cause))
      deps.log.error('Role ended, starting it again', { role: options.role, cause })
      if (deps.clock.monotonicMs() - startMs > healthyMs) backoff.reset()
      await deps.clock.sleep(backoff.nextMs(), signal).catch((reason: unknown) => {
        // The signal ends the loop in order.
        if (!signal.aborted) throw reason
      })
    }
  }
  // Callers that wait for `ready` get its error; without this handler it would end the process if there are
  // none. It is logged in either case.
  ready.promise.catch(() => undefined)
  const kept = keepLogBounded(options.logFile, deps, signal).catch(() => undefined)
  const ended = run().finally(() => kept)
  return {
    ready: ready.promise,
    ended,
    pid: () => child?.pid,
    isReady: () => isReady,
    async stop() {
      own.abort(new Error('no longer wanted'))
      await ended
    },
  }
}

function start(options: ChildRoleOptions, logDescriptor: number): ChildProcess {
  const [file = '', ...args] = programCommand(options.engineFlags)
  return spawn(file, [...args, options.role, ...options.args], {
    stdio: ['ignore', logDescriptor, logDescriptor, 'ipc'],
    // The child has its own process group: Ctrl-C on the terminal reaches only the supervisor, which stops
    // roles in order.
    detached: true,
  })
}

/** Returns the role's own error line if it logged one: it names the problem and the remedy. */
async function firstFailure(options: ChildRoleOptions, cause: string): Promise<ExpectedError> {
  const tail = (await readFile(options.logFile, 'utf8')).slice(-logTailChars)
  const said = tail.split('\n').findLast((line) => line.startsWith('skerry: '))
  const message =
    said?.slice('skerry: '.length) ?? `Cannot start ${options.role}: it ended with ${cause}`
  return new ExpectedError(`${message} (log: ${options.logFile})`, exitCodes.failure)
}

async function waitForEnd(child: ChildProcess, signal: AbortSignal): Promise<string> {
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('exit', (code, by) => resolve(by ?? `exit code ${code}`))
  })
  let killer: NodeJS.Timeout | undefined
  const stop = (): void => {
    child.kill('SIGTERM')
    killer = setTimeout(() => child.kill('SIGKILL'), stopGraceMs)
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const cause = await ended
  clearTimeout(killer)
  signal.removeEventListener('abort', stop)
  return cause
}
