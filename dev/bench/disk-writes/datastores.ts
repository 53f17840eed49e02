import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLogger, simulatedClock } from '@skerry/base'
import { compactionDefaults, openSqliteStore, runCompaction } from '@skerry/store'
import { EtcdClient } from '../../../packages/etcd-server/testing/etcd-client.ts'
import { freePort } from '../../processes/free-port.ts'
import type { DayWrite } from './scripted-day.ts'

/** A store of an API server's objects on a measured disk. */
export interface Datastore extends AsyncDisposable {
  /** Resolves when the write is acknowledged, at its time of the day. */
  write(write: DayWrite): Promise<void>
}

/** The store of a site, called as its API server does. Its time is that of the day. */
export async function openOurs(directory: string): Promise<Datastore> {
  const clock = simulatedClock()
  const startMs = clock.monotonicMs()
  const deps = { clock, log: silentLogger }
  const store = await openSqliteStore(join(directory, 'store.db'), { hasReserve: true }, deps)
  const stop = new AbortController()
  const compacting = runCompaction(store, compactionDefaults, clock, stop.signal).catch(() => {})
  return {
    async write({ atMs, key, value, isRelaxed }) {
      const waitMs = startMs + atMs - clock.monotonicMs()
      if (waitMs > 0) await clock.advance(waitMs)
      await store.write({ key, isRelaxed, ...(value === undefined ? {} : { value }) })
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('The day is over'))
      await compacting
      await store[Symbol.asyncDispose]()
    },
  }
}

/** One member of etcd, compacted every five minutes of the day, as upstream's API server does. */
export async function openEtcd(program: string, directory: string): Promise<Datastore> {
  const [port, peerPort] = [await freePort(), await freePort()]
  const [url, peerUrl] = [port, peerPort].map((each) => `http://127.0.0.1:${each}`)
  const flags = [
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--log-level=error',
  ]
  const child = spawn(program, flags, { stdio: 'ignore' })
  return openServer(child, { port, isCompacted: true })
}

/** K3s' datastore: kine on SQLite with its own settings. It compacts by itself, every five minutes of real time. */
export async function openKine(program: string, directory: string): Promise<Datastore> {
  const port = await freePort()
  const flags = [`--listen-address=tcp://127.0.0.1:${port}`, '--metrics-bind-address=0']
  const child = spawn(program, flags, { stdio: 'ignore', cwd: directory })
  return openServer(child, { port, isCompacted: false })
}

interface Server {
  readonly port: number
  readonly isCompacted: boolean
}

/** A server of etcd's API, written to by the transactions of upstream's API server. */
async function openServer(child: ChildProcess, { port, isCompacted }: Server): Promise<Datastore> {
  const client = await connected(child, port)
  const revisions = new Map<string, number>()
  /** The newest revision at each fifth minute. */
  let [checkedMs, before, newest] = [0, 0, 0]
  return {
    async write(write) {
      if (isCompacted && write.atMs - checkedMs >= compactionDefaults.keepMs) {
        if (before > 0) await client.call('Compact', { revision: before })
        ;[checkedMs, before] = [write.atMs, newest]
      }
      const { succeeded, header } = await client.call('Txn', transactionOf(write, revisions))
      if (!succeeded) throw new Error(`Cannot measure: ${write.key} has another revision`)
      newest = header?.revision ?? 0
      if (write.value === undefined) revisions.delete(write.key)
      else revisions.set(write.key, newest)
    },
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]()
      await stop(child)
    },
  }
}

/** The comparison of a key's last revision, as numbers of etcd's protocol: EQUAL is 0, MOD is 2. */
function transactionOf({ key: name, value }: DayWrite, revisions: ReadonlyMap<string, number>) {
  const key = Buffer.from(name)
  const modRevision = revisions.get(name) ?? 0
  const change =
    value === undefined ? { requestDeleteRange: { key } } : { requestPut: { key, value } }
  return {
    compare: [{ result: 0, target: 2, key, modRevision }],
    success: [change],
    failure: modRevision === 0 ? [] : [{ requestRange: { key } }],
  }
}

const startMsMax = 30_000

async function connected(child: ChildProcess, port: number): Promise<EtcdClient> {
  const endMs = performance.now() + startMsMax
  for (;;) {
    const client = new EtcdClient(`http://127.0.0.1:${port}`)
    const key = Buffer.from('/registry/health')
    const answered = await client.call('Range', { key }).then(
      () => true,
      () => false,
    )
    if (answered) return client
    client[Symbol.dispose]()
    if (child.exitCode !== null || performance.now() > endMs) {
      await stop(child)
      throw new Error(`Cannot measure: ${child.spawnfile} does not answer at port ${port}`)
    }
    await sleep(100)
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
