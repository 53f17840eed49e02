import type { IncomingMessage, ServerResponse } from 'node:http'
import { messageOf, type Clock, type Logger, type Random } from '@skerry/base'
import { openEtcdEngine, type EtcdEngine } from './engine/etcd-engine.ts'
import { toGrpcError } from './services/etcd-errors-table.ts'
import { GrpcHandler } from './grpc/grpc-handler.ts'
import {
  listen,
  type ListenAddress,
  type ListeningServer,
  type TlsFiles,
} from './grpc/grpc-server.ts'
import { etcdServerDefaults, type EtcdServerLimits } from './limits-table.ts'
import { SnapshotMaker } from './snapshots/snapshot-maker.ts'
import { etcdServices } from './services/etcd-services.ts'

export interface EtcdServerOptions {
  /** The file of the store. */
  readonly path: string
  /** The member's name. */
  readonly name: string
  /** The URLs that the member list names. */
  readonly clientUrls: readonly string[]
  readonly limits?: Partial<EtcdServerLimits> | undefined
  /** Returns what GET /metrics shows. If omitted, there is no such path. */
  readonly metrics?: (() => Promise<string>) | undefined
}

export interface EtcdServer extends AsyncDisposable {
  readonly engine: EtcdEngine
  /** Serves on a further address until the server is disposed. */
  listen(address: ListenAddress, tls?: TlsFiles): Promise<ListeningServer>
}

/** The version of etcd whose API is served: clients of 3.4.31, 3.5.13 and later may ask how far a watch is. */
const etcdVersion = '3.6.0'

/** Opens the store; nothing is served before `listen`. Throws ExpectedError if the store cannot be used. */
export async function openEtcdServer(
  options: EtcdServerOptions,
  deps: { clock: Clock; log: Logger; random: Random },
): Promise<EtcdServer> {
  const limits = { ...etcdServerDefaults, ...options.limits }
  const { quotaBytes, progressNotifyMs, requestBytesMax, streamsMax } = limits
  const engine = await openEtcdEngine(options.path, { quotaBytes }, deps)
  const { name, clientUrls } = options
  const member = { name, clientUrls, version: etcdVersion, quotaBytes }
  const snapshots = await SnapshotMaker.open(engine, options.path)
  const { clock } = deps
  const services = etcdServices({ engine, limits, member, progressNotifyMs, clock, snapshots })
  const handler = new GrpcHandler({ services, requestBytesMax, toGrpcError }, deps)
  const servers: ListeningServer[] = []
  return {
    engine,
    async listen(address, tls) {
      const handlers = {
        onStream: handler.onStream.bind(handler),
        onRequest: answerPlain(options.metrics),
        streamsMax,
      }
      const server = await listen(address, tls, handlers, deps)
      servers.push(server)
      return server
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))
      await engine[Symbol.asyncDispose]()
    },
  }
}

/** Answers HTTP/1.1: etcd has its metrics there, too. */
function answerPlain(metrics: EtcdServerOptions['metrics']) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const answer = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
      response.end(text)
    }
    const isMetrics = request.method === 'GET' && request.url?.split('?', 1)[0] === '/metrics'
    if (metrics === undefined || !isMetrics) return answer(404, '404 page not found\n')
    metrics().then(
      (text) => answer(200, text),
      (error: unknown) => answer(500, `${messageOf(error)}\n`),
    )
  }
}
