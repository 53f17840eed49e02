import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './until.ts'

export interface TestEtcd extends AsyncDisposable {
  /** The URL http://127.0.0.1:port, or https with certificates. */
  readonly endpoint: string
  /** Kills it at once, like a power cut; `start` continues with what is on disk. */
  kill(): Promise<void>
  start(): Promise<void>
}

export interface TestEtcdOptions {
  /** An existing data directory of the member `default`, which stays. If omitted, it gets a new one. */
  readonly dataDir?: string
  /** The paths of PEM files; clients must then present a certificate of that authority. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string }
  /** The size of its file at which it refuses writes. Default: etcd's own. */
  readonly quotaBytes?: number
}

const program = '/usr/bin/etcd'

/** Returns why tests with etcd cannot run on this machine, in one line; false if they can. */
export async function whyNoEtcd(): Promise<string | false> {
  try {
    await access(program, constants.X_OK)
    return false
  } catch {
    // The error of the access check does not help the reader.
    return `needs ${program}: apt-get install etcd-server`
  }
}

/** Starts one member on loopback with its own directory; it accepts requests when this resolves. */
export async function startTestEtcd(options: TestEtcdOptions = {}): Promise<TestEtcd> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-etcd-'))
  let child: ChildProcess | undefined
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const startAt = async (port: number): Promise<number> => {
    child = spawn(program, flagsOf(directory, options, port), {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    return portServed(child)
  }
  // The member takes a free port itself: one that is only looked up may be another's by then.
  const port = await startAt(0)
  return {
    endpoint: `${schemeOf(options)}://127.0.0.1:${port}`,
    kill,
    async start() {
      await until(async () => {
        try {
          return await startAt(port)
        } catch (error) {
          if (!(error instanceof PortTakenError)) throw error
          return undefined
        }
      })
    },
    async [Symbol.asyncDispose]() {
      await kill()
      await rm(directory, { recursive: true })
    },
  }
}

function flagsOf(
  directory: string,
  { tls, dataDir, quotaBytes }: TestEtcdOptions,
  port: number,
): string[] {
  const client = `${schemeOf({ tls })}://127.0.0.1:${port}`
  const flags = {
    'data-dir': dataDir ?? join(directory, 'data'),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': 'http://127.0.0.1:0',
    'initial-advertise-peer-urls': 'http://127.0.0.1:0',
    'initial-cluster': 'default=http://127.0.0.1:0',
    logger: 'zap',
    'log-level': 'info',
    ...(tls ? { 'cert-file': tls.cert, 'key-file': tls.key, 'trusted-ca-file': tls.ca } : {}),
    ...(quotaBytes === undefined ? {} : { 'quota-backend-bytes': String(quotaBytes) }),
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  return tls ? [...args, '--client-cert-auth'] : args
}

function schemeOf({ tls }: TestEtcdOptions): 'http' | 'https' {
  return tls ? 'https' : 'http'
}

/** Returns the port at which it serves, which it logs once it has elected itself. */
async function portServed({ stderr }: ChildProcess): Promise<number> {
  let seen = ''
  // The stream stays open after the loop: etcd ends when nothing reads its log.
  for await (const chunk of stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    seen += String(chunk)
    const port = /"serving client (?:traffic|requests)[^\n]*"address":"[^"\n]*:(\d+)"/.exec(
      seen,
    )?.[1]
    if (port === undefined) continue
    // Read on, or a full pipe would stop it.
    stderr?.resume()
    return Number(port)
  }
  const text = `Cannot start etcd: ${seen.slice(-2_000)}`
  throw seen.includes('address already in use') ? new PortTakenError(text) : new Error(text)
}

class PortTakenError extends Error {
  override name = 'PortTakenError'
}
