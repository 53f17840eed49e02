import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock, Logger, Random } from '@skerry/base'
import { AuthStore } from './auth/auth-store.ts'
import { openEtcdEngine, type EtcdEngine } from './engine/etcd-engine.ts'
import { toGrpcError } from './services/etcd-errors-table.ts'
import { CallCounts } from './grpc/call-counts.ts'
import { grpcErrorsOf } from './grpc/grpc-errors-of.ts'
import { GrpcHandler } from './grpc/grpc-handler.ts'
import {
  listen,
  type ListenAddress,
  type ListeningServer,
  type ServerHandlers,
  type TlsFiles,
} from './grpc/grpc-server.ts'
import { exchangeOfHttp1, exchangeOfHttp2 } from './http/http-exchange.ts'
import { Http2Duplex } from './http/http2-duplex.ts'
import { HttpFace } from './http/http-face.ts'
import { etcdServerBounds, etcdServerDefaults, type EtcdServerLimits } from './limits-table.ts'
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
}

export interface EtcdServer extends AsyncDisposable {
  readonly engine: EtcdEngine
  /** Serves on a further address until the server is disposed. */
  listen(address: ListenAddress, tls?: TlsFiles): Promise<ListeningServer>
}

const { partialBytesMax, unreadBytesMax } = etcdServerBounds.grpcServer

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
  const commit = (change: () => void): Promise<void> => engine.commit(change)
  const auth = new AuthStore({ table: engine.auth, clock: deps.clock, commit })
  const { clock } = deps
  const context = { engine, auth, limits, member, progressNotifyMs, clock, snapshots }
  const calls = {
    services: etcdServices(context),
    requestBytesMax,
    partial: { used: 0, max: partialBytesMax },
    unread: { used: 0, max: unreadBytesMax },
    counts: new CallCounts(),
    toGrpcError: grpcErrorsOf(toGrpcError, deps.log),
  }
  const health = { successes: 0, failures: 0 }
  const face = new HttpFace(context, calls, { calls: calls.counts, health, log: deps.log })
  const onOther: ServerHandlers['onStream'] = (stream, fields) => {
    const duplex = new Http2Duplex(stream)
    face.onRequest(exchangeOfHttp2(duplex, fields))
    return duplex
  }
  const handler = new GrpcHandler({ ...calls, onOther }, deps)
  const servers: ListeningServer[] = []
  return {
    engine,
    async listen(address, tls) {
      const handlers = {
        onStream: handler.onStream.bind(handler),
        onRequest: (request: IncomingMessage, response: ServerResponse) =>
          face.onRequest(exchangeOfHttp1(request, response)),
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
