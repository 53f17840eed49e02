import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ExpectedError, exitCodes, messageOf, unlessAborted, type Clock } from '@skerry/base'
import { openEtcdStore, type EtcdStore, type EtcdStoreOptions } from '@skerry/store'
import type { RoleContext } from '../runtime/role-context.ts'
import { storeMoveBounds } from './limits-table.ts'

const { serveMs, lookMs, stopMs, logChars } = storeMoveBounds.firstStart

/** The first member of an etcd, as it is named in the cluster. */
export interface FirstMember {
  readonly name: string
  /** The URLs at which further members will reach it. */
  readonly peerUrls: readonly string[]
  readonly clusterToken: string
}

export interface FirstStart {
  /** The program: etcd 3.4 or newer. */
  readonly etcdPath: string
  /** The member's data directory, with member/snap/db and nothing else. */
  readonly directory: string
  readonly member: FirstMember
  readonly prefix: string
}

/**
 * Starts etcd once on a directory that has only a database, so that it becomes a cluster of one member, calls `check`, and
 * stops it. Nobody else reaches it meanwhile: it listens on sockets in a private directory.
 *
 * It writes a snapshot of its Raft state before it stops. Without one, its log would begin at the first entry, a further
 * member would be sent that log instead of the database, and would have nothing of what the database held before.
 */
export async function startFirstMember(
  { etcdPath, directory, member, prefix }: FirstStart,
  context: Pick<RoleContext, 'clock' | 'log' | 'random' | 'signal'>,
  check: (store: EtcdStore) => Promise<void>,
): Promise<void> {
  const sockets = await mkdtemp(join(tmpdir(), 'skerry-etcd-'))
  const child = spawn(etcdPath, flagsOf(directory, member), {
    cwd: sockets,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '' },
  })
  const etcd = new WatchedChild(child, context.clock)
  try {
    const endpoints = [`unix://${join(sockets, clientSocket)}`]
    const scope = AbortSignal.any([context.signal, etcd.ended])
    {
      await using store = await openWhenServed({ endpoints, prefix }, context, scope)
      await check(store)
    }
    await untilSnapshot(join(directory, 'member', 'snap'), context.clock, scope)
    await etcd.stop()
  } catch (error) {
    context.signal.throwIfAborted()
    if (error instanceof ExpectedError && etcd.isRunning) throw error
    const text = `Cannot start ${etcdPath} on the new directory: ${messageOf(error)}`
    throw new ExpectedError(`${text}; its log ends: ${etcd.log}`, exitCodes.failure, {
      cause: error,
    })
  } finally {
    await etcd.stop()
    await rm(sockets, { recursive: true, force: true })
  }
}

// etcd 3.4 takes only a host and a port, which it uses as the name of a file in its directory.
const clientSocket = 'client:1'
const peerSocket = 'peer:1'

function flagsOf(directory: string, { name, peerUrls, clusterToken }: FirstMember): string[] {
  const flags = {
    name,
    'data-dir': directory,
    'listen-client-urls': `unix://${clientSocket}`,
    'advertise-client-urls': `unix://${clientSocket}`,
    'listen-peer-urls': `unix://${peerSocket}`,
    'initial-advertise-peer-urls': peerUrls.join(','),
    'initial-cluster': peerUrls.map((url) => `${name}=${url}`).join(','),
    'initial-cluster-state': 'new',
    'initial-cluster-token': clusterToken,
    // A snapshot at the second entry; a new cluster has at least three.
    'snapshot-count': '1',
    'enable-grpc-gateway': 'false',
    logger: 'zap',
    'log-level': 'warn',
  }
  return Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
}

/** Opens the store; a large database takes etcd longer than one attempt. */
async function openWhenServed(
  options: EtcdStoreOptions,
  context: Pick<RoleContext, 'clock' | 'log' | 'random'>,
  signal: AbortSignal,
): Promise<EtcdStore> {
  const untilMs = context.clock.monotonicMs() + serveMs
  for (;;) {
    try {
      return await unlessAborted(openEtcdStore(options, context, signal), signal)
    } catch (error) {
      signal.throwIfAborted()
      const isAway = error instanceof ExpectedError && error.exitCode === exitCodes.unreachable
      if (!isAway || context.clock.monotonicMs() > untilMs) throw error
    }
  }
}

async function untilSnapshot(directory: string, clock: Clock, signal: AbortSignal): Promise<void> {
  const untilMs = clock.monotonicMs() + serveMs
  while (!(await readdir(directory)).some((name) => name.endsWith('.snap'))) {
    if (clock.monotonicMs() > untilMs) throw new Error('it has not written a snapshot')
    await clock.sleep(lookMs, signal)
  }
}

class WatchedChild {
  readonly #child: ChildProcess
  readonly #clock: Clock
  readonly #ended = new AbortController()
  #log = ''

  constructor(child: ChildProcess, clock: Clock) {
    this.#child = child
    this.#clock = clock
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#log = (this.#log + chunk.toString()).slice(-logChars)
    })
    child.on('error', (error) => this.#ended.abort(error))
    child.on('exit', (code, signal) => {
      this.#ended.abort(new Error(`etcd ended with ${code ?? signal}`))
    })
  }

  get log(): string {
    return this.#log.trim()
  }

  get ended(): AbortSignal {
    return this.#ended.signal
  }

  get isRunning(): boolean {
    return !this.#ended.signal.aborted
  }

  /** Lets it write everything; kills it if that takes too long. */
  async stop(): Promise<void> {
    if (!this.isRunning) return
    const ended = once(this.#ended.signal, 'abort')
    this.#child.kill('SIGTERM')
    using _late = this.#clock.setTimer(stopMs, () => this.#child.kill('SIGKILL'))
    await ended
  }
}
