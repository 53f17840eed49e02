import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock, systemRandom, type Clock } from '@skerry/base'
import { openEtcdServer, type EtcdServer } from '../etcd-server.ts'
import type { EtcdServerLimits } from '../limits-table.ts'
import { EtcdClient } from './etcd-client.ts'

export interface TestServer extends AsyncDisposable {
  readonly server: EtcdServer
  readonly endpoint: string
  readonly port: number
  readonly client: EtcdClient
}

export interface TestServerOptions {
  readonly limits?: Partial<EtcdServerLimits>
  readonly clock?: Clock
  /** Where the store is; if omitted, in a directory that goes with the server. */
  readonly path?: string
}

/** Starts a server on loopback, with a client. */
export async function openTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-server-'))
  const { clock = systemClock, limits = {}, path = join(directory, 'etcd.db') } = options
  const deps = { clock, log: silentLogger, random: systemRandom }
  const server = await openEtcdServer({ path, name: 'test', clientUrls: [], limits }, deps)
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  const endpoint = `http://127.0.0.1:${port}`
  const client = new EtcdClient(endpoint)
  return {
    server,
    endpoint,
    port,
    client,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]()
      await server[Symbol.asyncDispose]()
      await rm(directory, { recursive: true })
    },
  }
}
