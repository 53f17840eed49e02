import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  ExpectedError,
  abortReason,
  asError,
  exitCodes,
  keepLogBounded,
  runAll,
  type Clock,
  type Logger,
} from '@skerry/base'
import { exists, hasCode } from '../system-error.ts'
import { dialContainerd } from '../cri/dial-containerd.ts'
import { areCgroupsWritable, detectCgroups } from './cgroups.ts'
import { containerdConfigToml } from './containerd-config.ts'
import { findProcesses } from './find-processes.ts'
import { isRunning, processIdentity, readPidFile, type PidFile } from './process-identity.ts'
import { containerdDefaults, kubeletBounds } from '../limits-table.ts'

export interface ContainerdOptions {
  /** The directory of images and snapshots; on a disk. */
  dataDirectory: string
  /**
   * The directory of socket, pid file and runtime state; on a tmpfs, so that nothing of a former boot is
   * trusted.
   */
  runDirectory: string
  cniConfDirectory: string
  cniBinDirectory: string
  registryDirectory: string
  sandboxImage: string
  /** The containerd binary: a path or a name on PATH. */
  binary?: string
  snapshotter?: string
  /** A digest of the environment that it inherits. A running one that was started with another is started again. */
  environment?: string
  handlers?: Readonly<Record<string, string>>
}

export interface SupervisedContainerd {
  readonly socket: string
  /** True when a containerd of ours was already running and was kept. */
  readonly isAdopted: boolean
  /**
   * Starts it again whenever it dies, until the signal aborts; leaves it running then. `onStarted` is for
   * what it may have lost: its directories are files that others can remove.
   */
  keepRunning(
    signal: AbortSignal,
    onStarted?: (signal: AbortSignal) => Promise<void>,
  ): Promise<void>
  /** Stops it. Containers go on without it. */
  stop(): Promise<void>
}

export interface ContainerdDeps {
  clock: Clock
  log: Logger
}

const { socketPathBytesMax } = kubeletBounds.superviseContainerd

/**
 * Starts containerd in its own session, so that neither a kill -9 of this process nor its own ends the pods,
 * or adopts the one that an earlier run left behind.
 */
export async function superviseContainerd(
  options: ContainerdOptions,
  deps: ContainerdDeps,
  signal: AbortSignal,
): Promise<SupervisedContainerd> {
  const paths = pathsOf(options)
  if (Buffer.byteLength(paths.socket) > socketPathBytesMax) {
    throw new ExpectedError(
      `Cannot start containerd: the socket path ${paths.socket} is longer than ${socketPathBytesMax} bytes; choose a shorter run directory`,
      exitCodes.usage,
    )
  }
  await refuseDirectories(paths)
  const isConfigChanged = await writeConfig(options, paths)
  const child = new ContainerdProcess(options, paths, deps)
  const isAdopted = await child.adoptOrStart(isConfigChanged, signal)
  return {
    socket: paths.socket,
    isAdopted,
    keepRunning: (scope, onStarted) =>
      runAll(scope, [
        (running) => child.keepRunning(running, onStarted),
        (running) => keepLogBounded(paths.logFile, deps, running),
      ]),
    stop: () => child.stop(),
  }
}

interface Paths {
  socket: string
  pidFile: string
  configFile: string
  logFile: string
}

function pathsOf(options: ContainerdOptions): Paths {
  return {
    socket: join(options.runDirectory, 'containerd.sock'),
    pidFile: join(options.runDirectory, 'containerd.pid'),
    configFile: join(options.dataDirectory, 'config.toml'),
    logFile: join(options.dataDirectory, 'containerd.log'),
  }
}

/** Each of these files is made again whatever it holds, unless a directory is in its place. */
async function refuseDirectories(paths: Paths): Promise<void> {
  const { socket, pidFile, configFile, logFile } = paths
  for (const path of [socket, pidFile, configFile, logFile]) {
    const found = await stat(path).catch(() => undefined)
    if (!found?.isDirectory()) continue
    throw new ExpectedError(
      `Cannot start containerd: a directory is in the place of the file ${path}; remove the directory`,
      exitCodes.dataDirectory,
    )
  }
}

/** Writes the configuration, and the directories that it names. Resolves true if the file changed. */
async function writeConfig(options: ContainerdOptions, paths: Paths): Promise<boolean> {
  await mkdir(options.runDirectory, { recursive: true, mode: 0o711 })
  await mkdir(options.dataDirectory, { recursive: true, mode: 0o711 })
  await mkdir(options.cniConfDirectory, { recursive: true, mode: 0o755 })
  const { environment } = options
  const head = environment === undefined ? '' : `# Environment: ${environment}\n`
  const config = containerdConfigToml({
    rootDirectory: join(options.dataDirectory, 'root'),
    stateDirectory: join(options.runDirectory, 'state'),
    socket: paths.socket,
    cniConfDirectory: options.cniConfDirectory,
    cniBinDirectory: options.cniBinDirectory,
    registryDirectory: options.registryDirectory,
    sandboxImage: options.sandboxImage,
    snapshotter: options.snapshotter ?? containerdDefaults.snapshotter,
    handlers: options.handlers ?? containerdDefaults.handlers,
    disableApparmor: !(await exists('/sys/kernel/security/apparmor')),
    restrictOomScoreAdj: !(await hasCapability(capSysResource)),
    disableCgroup: !(await areCgroupsWritable(await detectCgroups())),
  })
  const text = `${head}${config}`
  const old = (await exists(paths.configFile)) ? await readFile(paths.configFile, 'utf8') : ''
  if (old === text) return false
  await writeFile(paths.configFile, text, { mode: 0o600 })
  return true
}

const capSysResource = 24n

async function hasCapability(bit: bigint): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'utf8')
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'
  return ((BigInt(`0x${effective}`) >> bit) & 1n) === 1n
}

/** Owns the pid file: at most one containerd of ours runs, and it is the one in that file. */
class ContainerdProcess {
  readonly #options: ContainerdOptions
  readonly #paths: Paths
  readonly #deps: ContainerdDeps
  #current: PidFile | undefined
  /** The directory of network configurations as containerd found it. */
  #watched: number | undefined

  constructor(options: ContainerdOptions, paths: Paths, deps: ContainerdDeps) {
    this.#options = options
    this.#paths = paths
    this.#deps = deps
  }

  async adoptOrStart(isConfigChanged: boolean, signal: AbortSignal): Promise<boolean> {
    this.#current = (await readPidFile(this.#paths.pidFile)) ?? (await this.#findUnwritten())
    if (this.#current && (await isRunning(this.#current))) {
      if (!isConfigChanged && (await this.#answersInTime(signal))) return true
      this.#deps.log.info('Restarting containerd', { pid: this.#current.pid, isConfigChanged })
      await this.stop()
    } else if (await answers(this.#paths.socket, signal)) {
      throw new ExpectedError(
        `Cannot start containerd: ${this.#paths.socket} is served by a containerd that is not ours; stop it or choose another run directory`,
        exitCodes.alreadyRunning,
      )
    }
    await this.#start(signal)
    return false
  }

  async keepRunning(
    signal: AbortSignal,
    onStarted: (signal: AbortSignal) => Promise<void> = async () => undefined,
  ): Promise<void> {
    let delayMs: number = containerdDefaults.pollMs
    while (!signal.aborted) {
      await this.#deps.clock.sleep(containerdDefaults.pollMs, signal)
      const isAlive = this.#current !== undefined && (await isRunning(this.#current))
      if (isAlive && !(await this.#hasLostFiles())) continue
      this.#deps.log.info('Containerd died; starting it again', {
        pid: this.#current?.pid,
        hasLostFiles: isAlive,
      })
      try {
        await this.stop()
        await writeConfig(this.#options, this.#paths)
        await this.#start(signal)
        await onStarted(signal)
        delayMs = containerdDefaults.pollMs
      } catch (error) {
        if (signal.aborted) throw error
        this.#deps.log.error('Cannot start containerd', { error: asError(error) })
        await this.#deps.clock.sleep(delayMs, signal)
        delayMs = Math.min(2 * delayMs, containerdDefaults.restartDelayMsMax)
      }
    }
  }

  /**
   * Finds a containerd of ours by its command line if its pid file was damaged or removed, and writes the
   * file again.
   */
  async #findUnwritten(): Promise<PidFile | undefined> {
    const ours = containerdArguments(this.#paths).join('\0')
    const [found] = await findProcesses(([, ...args]) => args.join('\0').endsWith(ours))
    if (!found) return undefined
    const identity = await processIdentity(found.pid)
    await this.#writePidFile(identity)
    return identity
  }

  #writePidFile(identity: PidFile): Promise<void> {
    return writeFile(this.#paths.pidFile, JSON.stringify(identity), { mode: 0o600 })
  }

  /**
   * Reports whether its socket or directory was replaced. Without its socket it is unreachable, and it
   * creates no other. It watches the original directory of network configurations, and not a replacement.
   */
  async #hasLostFiles(): Promise<boolean> {
    if (!(await exists(this.#paths.socket))) return true
    const watched = (this.#watched ??= await fileNumber(this.#options.cniConfDirectory))
    return (await fileNumber(this.#options.cniConfDirectory)) !== watched
  }

  async stop(): Promise<void> {
    const current = this.#current
    if (!current || !(await isRunning(current))) return
    const deadlineMs = this.#deps.clock.monotonicMs() + containerdDefaults.stopTimeoutMs
    const never = new AbortController().signal
    process.kill(current.pid, 'SIGTERM')
    while (await isRunning(current)) {
      if (this.#deps.clock.monotonicMs() > deadlineMs) process.kill(current.pid, 'SIGKILL')
      await this.#deps.clock.sleep(kubeletBounds.superviseContainerd.endedLookMs, never)
    }
    await rm(this.#paths.pidFile, { force: true })
    this.#current = undefined
  }

  async #start(signal: AbortSignal): Promise<void> {
    const binary = this.#options.binary ?? containerdDefaults.binary
    await rm(this.#paths.socket, { force: true })
    const pid = await spawnDetached(binary, this.#paths)
    this.#current = await processIdentity(pid)
    this.#watched = await fileNumber(this.#options.cniConfDirectory)
    await this.#writePidFile(this.#current)
    if (await this.#answersInTime(signal)) return
    throw new ExpectedError(
      `Cannot start containerd: it does not answer; see ${this.#paths.logFile}`,
      exitCodes.failure,
    )
  }

  async #answersInTime(signal: AbortSignal): Promise<boolean> {
    const deadlineMs = this.#deps.clock.monotonicMs() + containerdDefaults.startTimeoutMs
    while (this.#deps.clock.monotonicMs() < deadlineMs) {
      if (await answers(this.#paths.socket, signal)) return true
      if (!this.#current || !(await isRunning(this.#current))) return false
      await this.#deps.clock.sleep(kubeletBounds.superviseContainerd.startedLookMs, signal)
    }
    return false
  }
}

function containerdArguments({ configFile }: Paths): readonly string[] {
  return ['--config', configFile, '--log-level', 'info']
}

function spawnDetached(binary: string, paths: Paths): Promise<number> {
  const logDescriptor = openSync(paths.logFile, 'a', 0o600)
  return new Promise((resolve, reject) => {
    const child = spawn(binary, containerdArguments(paths), {
      detached: true,
      stdio: ['ignore', logDescriptor, logDescriptor],
      cwd: '/',
    })
    closeSync(logDescriptor)
    child.once('error', (cause) => {
      const message = `Cannot start containerd: ${cause.message}; install containerd and runc`
      reject(new ExpectedError(message, exitCodes.missingDependency, { cause }))
    })
    child.once('spawn', () => {
      child.unref()
      if (child.pid !== undefined) resolve(child.pid)
    })
  })
}

/** Returns 0 if the file does not exist. */
async function fileNumber(path: string): Promise<number> {
  try {
    return (await stat(path)).ino
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 0
    throw error
  }
}

async function answers(socket: string, signal: AbortSignal): Promise<boolean> {
  if (!(await exists(socket))) return false
  await using runtime = dialContainerd(socket, {
    requestTimeoutMs: kubeletBounds.superviseContainerd.answerMs,
  })
  try {
    await runtime.conditions(signal)
    return true
  } catch {
    if (signal.aborted) throw abortReason(signal)
    return false
  }
}
