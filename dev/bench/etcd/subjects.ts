import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { EtcdClient } from '../../../packages/etcd-server/testing/etcd-client.ts'
import { freePort } from '../../processes/free-port.ts'
import { startRoleProcess } from '../../processes/role-process.ts'

/** An etcd API that is measured, in a process of its own on loopback. */
export interface Subject extends AsyncDisposable {
  readonly endpoint: string
  readonly pid: number
  /** Milliseconds from the start of the process until it has answered a range. */
  readonly startMs: number
}

/** Starts a subject on the data that the directory has. */
export type StartSubject = (directory: string) => Promise<Subject>

const startMsMax = 60_000
const pollMs = 5

/** `skerry etcd`, from its bundle. */
export function ours(program: string): StartSubject {
  return (directory) =>
    startRole(program, 'etcd', directory, (endpoint, data) => [
      '--data-dir',
      data,
      '--listen-client-urls',
      endpoint,
    ])
}

/** A site that serves etcd in its process. */
export function site(program: string): StartSubject {
  return async (directory) => {
    const port = String(await freePort())
    const address = ['--port', port, '--bind-address', '127.0.0.1']
    return startRole(program, 'site', directory, (endpoint, data) => [
      '--data-dir',
      data,
      ...address,
      '--serve-etcd',
      endpoint,
    ])
  }
}

async function startRole(
  program: string,
  role: string,
  directory: string,
  argsOf: (endpoint: string, data: string) => readonly string[],
): Promise<Subject> {
  const endpoint = `http://127.0.0.1:${await freePort()}`
  await mkdir(directory, { recursive: true })
  const startMs = performance.now()
  const process = await startRoleProcess({
    program,
    role,
    args: argsOf(endpoint, join(directory, 'data')),
    directory,
    compileCache: join(directory, 'compile-cache'),
  })
  await untilAnswers(endpoint)
  const measuredMs = performance.now() - startMs
  const end = (): PromiseLike<void> => process[Symbol.asyncDispose]()
  return { endpoint, pid: process.pid, startMs: measuredMs, [Symbol.asyncDispose]: end }
}

/** An etcd with one member and its own defaults. */
export function etcd(program: string): StartSubject {
  return async (directory) => {
    const endpoint = `http://127.0.0.1:${await freePort()}`
    const peerUrl = `http://127.0.0.1:${await freePort()}`
    const flags = {
      'data-dir': join(directory, 'data'),
      'listen-client-urls': endpoint,
      'advertise-client-urls': endpoint,
      'listen-peer-urls': peerUrl,
      'initial-advertise-peer-urls': peerUrl,
      'initial-cluster': `default=${peerUrl}`,
      'log-level': 'error',
    }
    return startProgram(program, directory, flags, endpoint)
  }
}

/** Starts kine on SQLite. With NORMAL, its default, it may lose acknowledged writes when the power fails. */
export function kine(program: string, synchronous: 'NORMAL' | 'FULL'): StartSubject {
  return async (directory) => {
    const port = await freePort()
    const parameters = {
      _journal_mode: 'WAL',
      _busy_timeout: '30000',
      _synchronous: synchronous,
      _txlock: 'immediate',
      _stmt_cache_size: '20',
      cache: 'shared',
    }
    const file = join(directory, 'state.db')
    const flags = {
      endpoint: `sqlite://${file}?${String(new URLSearchParams(parameters))}`,
      'listen-address': `http://127.0.0.1:${port}`,
      'metrics-bind-address': '0',
    }
    return startProgram(program, directory, flags, `http://127.0.0.1:${port}`)
  }
}

async function startProgram(
  program: string,
  directory: string,
  flags: Readonly<Record<string, string>>,
  endpoint: string,
): Promise<Subject> {
  await mkdir(directory, { recursive: true })
  await using log = await open(join(directory, 'log'), 'a')
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const startMs = performance.now()
  const child = spawn(program, args, { stdio: ['ignore', log.fd, log.fd] })
  await once(child, 'spawn')
  await untilAnswers(endpoint)
  return {
    endpoint,
    pid: child.pid ?? 0,
    startMs: performance.now() - startMs,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}

async function untilAnswers(endpoint: string): Promise<void> {
  const signal = AbortSignal.timeout(startMsMax)
  for (;;) {
    using client = new EtcdClient(endpoint)
    try {
      await client.call('Range', { key: Buffer.from('a') })
      return
    } catch {
      // It does not listen, or has no leader yet.
      signal.throwIfAborted()
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }
}
