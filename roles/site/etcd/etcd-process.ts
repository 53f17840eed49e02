import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import {
  createBackoff,
  ExpectedError,
  exitCodes,
  logFailure,
  type Clock,
  type Logger,
  type Random,
  type Timer,
} from '@skerry/base'
import type { EtcdFiles } from './embedded-options.ts'
import type { EtcdProgram } from './etcd-program.ts'
import { siteBounds } from '../limits-table.ts'

const { process: bounds } = siteBounds.etcd

export interface ProcessDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface EtcdProcess extends AsyncDisposable {
  /** Rejects with an ExpectedError once it ends before `onServes` was called; never resolves. */
  readonly failed: Promise<never>
  /** Call this when it has served: from then on it is started again whenever it ends. */
  onServes(): void
}

/**
 * Runs one member as a child process until it is disposed. It ends with this process, however that ends. Where systemd
 * runs it has a scope with limits of its own. `args` is called before each start.
 */
export async function superviseEtcd(
  program: EtcdProgram,
  files: EtcdFiles,
  args: () => readonly string[],
  deps: ProcessDeps,
): Promise<EtcdProcess> {
  await mkdir(files.root, { recursive: true, mode: 0o700 })
  await endForgotten(files, deps)
  const stopping = new AbortController()
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  let hasServed = false
  const hasScope = await mayHaveScope()
  const run = async (): Promise<void> => {
    const backoff = createBackoff(bounds.restart, deps.random)
    while (!stopping.signal.aborted) {
      const startMs = deps.clock.monotonicMs()
      const said = await logSize(files.log)
      const child = start(program, args(), { hasScope, dataDir: files.data })
      // A child may end before anything else is done.
      const end = endOf(child)
      await noteProcess(child, files, deps)
      const cause = await untilEnd({ child, end }, deps.clock, stopping.signal)
      await rm(files.pid, { force: true })
      if (stopping.signal.aborted) return
      const reason = (await lastWords(files.log, said)) ?? cause
      if (!hasServed) return failed.reject(refusal(reason, files))
      deps.log.error('etcd ended, starting it again', { cause, reason })
      if (deps.clock.monotonicMs() - startMs > bounds.healthyMs) backoff.reset()
      await deps.clock.sleep(backoff.nextMs(), stopping.signal).catch(() => undefined)
    }
  }
  const ended = run().catch((error: unknown) => failed.reject(error))
  return {
    failed: failed.promise,
    onServes: () => void (hasServed = true),
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error('The site stops'))
      await ended
    },
  }
}

function refusal(reason: string, files: EtcdFiles): ExpectedError {
  return new ExpectedError(
    `Cannot start etcd: it ended: ${reason} (log: ${files.log})`,
    exitCodes.failure,
  )
}

interface StartOptions {
  readonly hasScope: boolean
  readonly dataDir: string
}

function start(
  { path }: EtcdProgram,
  args: readonly string[],
  { hasScope, dataDir }: StartOptions,
): ChildProcess {
  // The kernel ends it with this process: a member without its site would hold the files of the next one.
  const alone = ['--pdeathsig', 'TERM', path, ...args]
  const env = { ...process.env, GOMEMLIMIT: `${bounds.memoryMebibytes}MiB` }
  const options = { stdio: 'ignore', detached: true, env } as const
  if (!hasScope) return spawn('setpriv', alone, options)
  const scope = [
    '--scope',
    '--quiet',
    '--collect',
    `--description=etcd of the Skerry site in ${dataDir}`,
    `--property=MemoryMax=${bounds.memoryMebibytes * bounds.memoryFactor}M`,
    `--property=CPUWeight=${bounds.cpuWeight}`,
    `--property=IOWeight=${bounds.ioWeight}`,
    '--',
    'setpriv',
    ...alone,
  ]
  return spawn('systemd-run', scope, options)
}

/** Remembers the process, and makes it one of the last that the kernel ends when memory is short. */
async function noteProcess(
  child: ChildProcess,
  files: EtcdFiles,
  { log }: ProcessDeps,
): Promise<void> {
  if (child.pid === undefined) return
  try {
    await writeFile(files.pid, `${child.pid}\n`, { mode: 0o600 })
    await writeFile(`/proc/${child.pid}/oom_score_adj`, String(bounds.oomScore))
  } catch (error) {
    // A unit without the right CAP_SYS_RESOURCE keeps the score that it has, and a full disk needs no note.
    logFailure(log, {
      subject: 'Priority of etcd',
      message: 'Score of etcd for a lack of memory not lowered',
      level: 'debug',
      error,
    })
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('exit', (code, by) => resolve(by ?? `exit code ${code}`))
  })
}

async function untilEnd(
  { child, end }: { readonly child: ChildProcess; readonly end: Promise<string> },
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  let killer: Timer | undefined
  const stop = (): void => {
    child.kill('SIGTERM')
    killer = clock.setTimer(bounds.stopGraceMs, () => child.kill('SIGKILL'))
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const cause = await end
  killer?.[Symbol.dispose]()
  signal.removeEventListener('abort', stop)
  return cause
}

/** Ends a process of an earlier start on the same files, e.g. where the kernel was not asked to end it. */
export async function endForgotten(files: EtcdFiles, { clock, log }: ProcessDeps): Promise<void> {
  const pid = await runningMember(files)
  if (pid === undefined) return
  log.info('Ending an etcd of an earlier start', { pid })
  process.kill(pid, 'SIGTERM')
  const untilMs = clock.monotonicMs() + bounds.stopGraceMs
  while ((await runningMember(files)) !== undefined) {
    if (clock.monotonicMs() > untilMs) process.kill(pid, 'SIGKILL')
    await clock.sleep(bounds.lookMs, new AbortController().signal)
  }
}

/** Returns the number of the process that runs on these files, if one does. */
export async function runningMember({ pid: path, data }: EtcdFiles): Promise<number | undefined> {
  const pid = Number(await textOf(path))
  if (!Number.isSafeInteger(pid) || pid < 2) return undefined
  // The number may be another program's by now.
  const words = (await textOf(`/proc/${pid}/cmdline`)).split('\0')
  return words.includes(`--data-dir=${data}`) ? pid : undefined
}

async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}

async function logSize(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}

/** Returns the message of the last line that is a fault, in etcd's words. */
async function lastWords(path: string, after: number): Promise<string | undefined> {
  const size = await logSize(path)
  const from = Math.max(size < after ? 0 : after, size - bounds.logTailBytes)
  if (size === 0) return undefined
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
  const lines = buffer.toString('utf8', 0, bytesRead).trim().split('\n')
  return lines.map(faultIn).findLast((fault) => fault !== undefined)
}

function faultIn(line: string): string | undefined {
  try {
    const { level, msg, error } = JSON.parse(line)
    // etcd only warns of the error for which it ends itself, e.g. that another member has removed this one.
    const isFault = ['error', 'fatal', 'panic', 'dpanic'].includes(level) || msg === 'server error'
    if (!isFault) return undefined
    return error === undefined ? String(msg) : `${msg}: ${error}`
  } catch {
    // The first line may be cut off.
    return undefined
  }
}

/**
 * Checks as sd_booted(3) does, and whether systemd would make a scope for this process: it does so for the right
 * CAP_SYS_ADMIN, which a unit with a bounding set has given away. There etcd is in the unit of the site.
 */
async function mayHaveScope(): Promise<boolean> {
  const isBooted = await stat('/run/systemd/system').then(
    (found) => found.isDirectory(),
    () => false,
  )
  const held = /^CapEff:\s*([0-9a-f]+)$/m.exec(await textOf('/proc/self/status'))?.[1] ?? '0'
  return isBooted && (BigInt(`0x${held}`) & capSysAdmin) !== 0n
}

/** A bit of the kernel's sets of rights; see capability.h. */
const capSysAdmin = 1n << 21n
