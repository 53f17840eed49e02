import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { ExpectedError, exitCodes, lastCatch, type Logger } from '@skerry/base'
import { codeOf } from '../runtime/data-directory.ts'
import { agentBounds } from './limits-table.ts'

export interface ProbeServer extends AsyncDisposable {
  readonly port: number
}

const { connectionsMax, requestMs } = agentBounds.probeServer

/**
 * Serves `/livez`, which succeeds while the process runs, and `/readyz`, which succeeds while it is ready;
 * neither gives a reason.
 */
export async function openProbes(
  port: number,
  isReady: () => boolean,
  log: Logger,
): Promise<ProbeServer> {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const isGood =
      request.method === 'GET' &&
      (request.url === '/livez' || (request.url === '/readyz' && isReady()))
    const isKnown = request.url === '/livez' || request.url === '/readyz'
    const status = isGood ? 200 : isKnown ? 503 : 404
    response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' })
    response.end(isGood ? 'ok\n' : 'not ready\n')
  }
  const server = createServer({ requestTimeout: requestMs }, lastCatch(answer, log))
  server.maxConnections = connectionsMax
  server.listen(port)
  try {
    await once(server, 'listening')
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') throw error
    throw new ExpectedError(
      `Cannot listen on port ${port}: it is taken; pass --probe-port`,
      exitCodes.portTaken,
      { cause: error },
    )
  }
  return { port: portOf(server), [Symbol.asyncDispose]: () => closed(server) }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function closed(server: Server): Promise<void> {
  const end = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await end
}
