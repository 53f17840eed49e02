import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TestEtcd extends AsyncDisposable {
  /** http://127.0.0.1:port, or https with certificates. */
  readonly endpoint: string
  /** At once, as a power cut would; `start` goes on with what is on disk. */
  kill(): Promise<void>
  start(): Promise<void>
}

export interface TestEtcdOptions {
  /** Paths of PEM files; clients must then show a certificate of that authority. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string }
}

const program = '/usr/bin/etcd'

/** Why tests with etcd cannot run on this machine, in one line; false when they can. */
export async function whyNoEtcd(): Promise<string | false> {
  try {
    await access(program, constants.X_OK)
    return false
  } catch {
    // What access says of it is of no use to the reader.
    return `needs ${program}: apt-get install etcd-server`
  }
}

/** One member on loopback, with a directory of its own, that takes requests when this resolves. */
export async function startTestEtcd(options: TestEtcdOptions = {}): Promise<TestEtcd> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-etcd-'))
  const flags = flagsOf(directory, options, await freePort())
  let child: ChildProcess | undefined
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const start = async (): Promise<void> => {
    child = spawn(program, flags, { stdio: ['ignore', 'ignore', 'pipe'] })
    await untilServing(child)
  }
  await start()
  return {
    endpoint: flags.find((flag) => flag.startsWith('--listen-client-urls='))?.split('=')[1] ?? '',
    kill,
    start,
    async [Symbol.asyncDispose]() {
      await kill()
      await rm(directory, { recursive: true })
    },
  }
}

function flagsOf(directory: string, { tls }: TestEtcdOptions, port: number): string[] {
  const client = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`
  const flags = {
    'data-dir': join(directory, 'data'),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': 'http://127.0.0.1:0',
    'initial-advertise-peer-urls': 'http://127.0.0.1:0',
    'initial-cluster': 'default=http://127.0.0.1:0',
    logger: 'zap',
    'log-level': 'info',
    ...(tls ? { 'cert-file': tls.cert, 'key-file': tls.key, 'trusted-ca-file': tls.ca } : {}),
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  return tls ? [...args, '--client-cert-auth'] : args
}

/** Its log says so, once it has elected itself. */
async function untilServing({ stderr }: ChildProcess): Promise<void> {
  let seen = ''
  // Kept open after the loop: etcd ends when nobody listens to its log.
  for await (const chunk of stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    seen += String(chunk)
    if (!/ready to serve client requests|serving client (traffic|requests)/.test(seen)) continue
    // Read on, or a full pipe would stop it.
    stderr?.resume()
    return
  }
  throw new Error(`Cannot start etcd: ${seen.slice(-2_000)}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  server.close()
  await once(server, 'close')
  return port
}
