import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { credentials, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { silentLogger, systemClock } from '@skerry/base'
import { openSqliteStore } from '@skerry/store'
import { beside, type BenchOptions, type Figure } from './measure/figure.ts'
import { freePort } from '../processes/free-port.ts'

/**
 * Durable writes per second: the embedded store next to etcd, in turns, on the same disk. Both are called as
 * an API server in this runtime would call them: ours by a function call, etcd over gRPC on loopback with one
 * connection. Values are 1 KiB, keys are new, each writer waits for its answer.
 */
export interface StoreBenchOptions extends BenchOptions {
  /** The directory of both stores' data; must be on a real disk. */
  directory?: string
  /** Milliseconds per measurement. */
  measureMs?: number
}

interface Subject extends AsyncDisposable {
  put(key: string, value: Uint8Array): Promise<unknown>
}

const valueBytes = 1_024
const cases = [
  { writers: 1, goal: 1 },
  { writers: 64, goal: 1.5 },
] as const

export async function run(options: StoreBenchOptions): Promise<Figure[]> {
  const { rounds, directory = '.', measureMs = 1_500 } = options
  const home = await mkdtemp(join(directory, '.bench-store-'))
  try {
    await using ours = await openOurs(join(home, 'state.db'))
    await using peer = await openEtcd(home)
    const figures: Figure[] = []
    for (const { writers, goal } of cases) {
      const rates: Record<'ours' | 'peer', number[]> = { ours: [], peer: [] }
      for (let round = 0; round < rounds; round += 1) {
        const load = { writers, measureMs, keyPrefix: `/bench/${writers}/${round}` }
        rates.ours.push(await measure(ours, load))
        rates.peer.push(await measure(peer, load))
      }
      figures.push(beside(`store.write.${writers}`, { unit: 'writes/s', ...rates, goal }))
    }
    return figures
  } finally {
    await rm(home, { recursive: true })
  }
}

interface Load {
  writers: number
  measureMs: number
  keyPrefix: string
}

async function measure(subject: Subject, load: Load): Promise<number> {
  const value = new Uint8Array(valueBytes).fill(0x61)
  const startMs = performance.now()
  const endMs = startMs + load.measureMs
  let count = 0
  const writer = async (name: number): Promise<void> => {
    for (let index = 0; performance.now() < endMs; index += 1) {
      await subject.put(`${load.keyPrefix}/${name}/${index}`, value)
      count += 1
    }
  }
  await Promise.all(Array.from({ length: load.writers }, (_, name) => writer(name)))
  return Math.round((count * 1_000) / (performance.now() - startMs))
}

async function openOurs(path: string): Promise<Subject> {
  const store = await openSqliteStore(path, {}, { clock: systemClock, log: silentLogger })
  return {
    put: (key, value) => store.write({ key, value }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

/** The two messages of etcd's public KV API that this needs; other fields keep their defaults. */
const kvProto = `syntax = "proto3"; package etcdserverpb;
service KV { rpc Put(PutRequest) returns (PutResponse); }
message PutRequest { bytes key = 1; bytes value = 2; }
message PutResponse { ResponseHeader header = 1; }
message ResponseHeader { int64 revision = 3; }`

async function openEtcd(home: string): Promise<Subject> {
  const [clientPort, peerPort] = [await freePort(), await freePort()]
  const child = spawnEtcd(home, clientPort, peerPort)
  const protoPath = join(home, 'kv.proto')
  await writeFile(protoPath, kvProto)
  const definition = loadPackageDefinition(loadSync(protoPath, { longs: Number }))
  // The proto above declares exactly this package and service.
  const { KV } = definition['etcdserverpb'] as unknown as { KV: ServiceClientConstructor }
  const client = new KV(`127.0.0.1:${clientPort}`, credentials.createInsecure())
  await new Promise<void>((resolve, reject) => {
    client.waitForReady(Date.now() + 10_000, (error) => (error ? reject(error) : resolve()))
  })
  const put: Subject['put'] = (key, value) =>
    new Promise((resolve, reject) => {
      const onAnswer = (error: Error | null): void => (error ? reject(error) : resolve(undefined))
      client['Put']?.({ key: Buffer.from(key), value }, onAnswer)
    })
  await put('/bench/warm', new Uint8Array(1))
  return {
    put,
    async [Symbol.asyncDispose]() {
      client.close()
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

function spawnEtcd(home: string, clientPort: number, peerPort: number): ChildProcess {
  const clientUrl = `http://127.0.0.1:${clientPort}`
  const peerUrl = `http://127.0.0.1:${peerPort}`
  const flags = {
    'data-dir': join(home, 'etcd'),
    'listen-client-urls': clientUrl,
    'advertise-client-urls': clientUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
    'log-level': 'error',
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  return spawn('etcd', args, { stdio: 'ignore' })
}
