import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Entry, LoadConnection } from './connection.ts'

/** The place of both ends of a tunnel, and what it already has. */
export interface Site {
  /** The directory of certificates, configurations and logs. */
  readonly directory: string
  /** The programs of the peers. */
  readonly bin: string
  /** The bundle's entry. */
  readonly program: string
  readonly cloudAddress: string
  readonly edgeAddress: string
  /** The words before a command that run it at the edge. Empty if cloud and edge are one place. */
  readonly edge: readonly string[]
  /** The target's port, at the edge. */
  readonly targetPort: number
}

/** A way from a client in the cloud to the target at the edge. */
export interface Subject {
  readonly entry: Entry
  /** The process at the cloud's end, whose memory and time count; omitted if there is none. */
  readonly cloudPid?: number
  /** The process at the edge's end, whose time counts; omitted if it is not known. */
  readonly edgePid?: number
}

/** Returns the ids of the processes at both ends, if known. */
export function pidsOf(ends: {
  cloud: ChildProcess
  edge?: ChildProcess
}): Pick<Subject, 'cloudPid' | 'edgePid'> {
  const { pid: cloudPid } = ends.cloud
  const edgePid = ends.edge?.pid
  return {
    ...(cloudPid === undefined ? {} : { cloudPid }),
    ...(edgePid === undefined ? {} : { edgePid }),
  }
}

export type SubjectStart = (site: Site, processes: Processes) => Promise<Subject>

/** The processes of one measurement. They end with it, by their ids. */
export class Processes implements AsyncDisposable {
  readonly #directory: string
  readonly #children: ChildProcess[] = []

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Starts a process and appends its output to <directory>/<name>.log. */
  async start(
    name: string,
    command: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<ChildProcess> {
    // The kernel ends it with us, however we end.
    const args = ['--pdeathsig', 'KILL', ...command]
    await using log = await open(join(this.#directory, `${name}.log`), 'a')
    const child = spawn('setpriv', args, {
      stdio: ['ignore', log.fd, log.fd],
      env: { ...process.env, ...env },
    })
    this.#children.push(child)
    return child
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      const killer = setTimeout(() => child.kill('SIGKILL'), stopMsMax)
      await exited
      clearTimeout(killer)
    }
  }
}

const stopMsMax = 3_000

/** Returns the entry of an end-to-end peer: the client sees the target's own certificate. */
export async function targetEntry(
  { directory }: Site,
  to: Entry['to'],
  connectTo?: string,
): Promise<Entry> {
  const ca = await readFile(join(directory, 'ca.crt'), 'utf8')
  return { to, ca, prefix: '', ...(connectTo === undefined ? {} : { connectTo }) }
}

const startMsMax = 60_000
const pollMs = 50

/** Waits until a small request is answered; throws the last failure after a minute. */
export async function untilAnswered(entry: Entry): Promise<void> {
  const deadline = AbortSignal.timeout(startMsMax)
  for (;;) {
    const failure = await answerOnce(entry, AbortSignal.timeout(2_000))
    if (failure === undefined) return
    if (deadline.aborted) throw new Error('Cannot measure: no answer', { cause: failure })
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

/** Resolves with the reason why a small request on a new connection was not answered; undefined if it was. */
export async function answerOnce(entry: Entry, signal: AbortSignal): Promise<unknown> {
  let connection: LoadConnection | undefined
  const onAbort = (): void => connection?.close()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    connection = await LoadConnection.open(entry, signal)
    const { status } = await connection.get('/small')
    return status === 200 ? undefined : new Error(`Cannot measure: status ${status}`)
  } catch (error) {
    return error
  } finally {
    signal.removeEventListener('abort', onAbort)
    connection?.close()
  }
}
