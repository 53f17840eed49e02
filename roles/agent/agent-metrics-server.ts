import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  ExpectedError,
  asError,
  exitCodes,
  lastCatch,
  type Logger,
  type Metrics,
} from '@skerry/base'
import { codeOf } from '../runtime/data-directory.ts'
import { agentBounds } from './limits-table.ts'

export interface MetricsServer extends AsyncDisposable {
  readonly port: number
}

export interface MetricsAddress {
  readonly host: string
  readonly port: number
}

const { connectionsMax, requestMs } = agentBounds.agentMetricsServer

/** Serves `/metrics` over plain HTTP, as kube-proxy does: any client that reaches the address may read them. */
export async function openMetricsServer(
  { host, port }: MetricsAddress,
  metrics: Metrics,
  log: Logger,
): Promise<MetricsServer> {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead || request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(isRead ? 404 : 405, { 'content-type': 'text/plain', connection: 'close' })
      return void response.end(isRead ? 'not found\n' : 'GET only\n')
    }
    metrics.text().then(
      (text) => {
        response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
        response.end(text)
      },
      (error: unknown) => {
        const cause = asError(error)
        log.error('Metrics not read', { error: cause })
        response.writeHead(500).end()
      },
    )
  }
  const server = createServer({ requestTimeout: requestMs }, lastCatch(answer, log))
  server.maxConnections = connectionsMax
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw notListening({ host, port }, error)
  }
  // A listening TCP server has an address of this shape.
  const bound = server.address() as AddressInfo
  log.info('Metrics served', { address: bound.address, port: bound.port })
  return {
    port: bound.port,
    async [Symbol.asyncDispose]() {
      const end = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await end
    },
  }
}

function notListening({ host, port }: MetricsAddress, error: unknown): unknown {
  const code = codeOf(error)
  if (code !== 'EADDRINUSE' && code !== 'EADDRNOTAVAIL' && code !== 'EACCES') return error
  const isTaken = code === 'EADDRINUSE'
  const why = isTaken
    ? 'it is in use'
    : code === 'EACCES'
      ? 'that needs root'
      : 'it is not this machine’s'
  return new ExpectedError(
    `Cannot listen on ${host}:${port} for metrics: ${why}; pass another --metrics-bind-address`,
    isTaken ? exitCodes.portTaken : exitCodes.usage,
    { cause: error },
  )
}
