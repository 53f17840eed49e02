import { Agent, request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { Neighbour } from './group.ts'
import { neighbourBounds } from './limits-table.ts'
import { peerNode } from './neighbour-identity.ts'
import { parseAnswer, type Answer } from './word.ts'

export interface AskingIdentity {
  /** Returns this node's own certificate and key; PEM. */
  current(): { readonly cert: string; readonly key: string }
  /** The authority of the cluster; PEM. */
  readonly authorityPem: string
}

export interface NeighbourAsker extends Disposable {
  readonly ask: (neighbour: Neighbour, signal: AbortSignal) => Promise<Answer | undefined>
}

/** The path at which a node tells its neighbours its word, at the port of its kubelet. */
export const neighboursPath = '/neighbours'

const { answerBytesMax, connectionsMax } = neighbourBounds.askNeighbour

/** Asks neighbours over connections that stay open between two rounds. */
export function createNeighbourAsker(identity: AskingIdentity): NeighbourAsker {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, maxTotalSockets: connectionsMax })
  return {
    async ask(neighbour, signal) {
      try {
        return await askOnce({ neighbour, identity, agent }, signal)
      } catch (error) {
        // The neighbour closed an idle connection just as it was taken.
        if (!(error instanceof StaleConnectionError)) throw error
        return askOnce({ neighbour, identity, agent }, signal)
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}

class StaleConnectionError extends Error {
  override name = 'StaleConnectionError'
}

interface Asking {
  readonly neighbour: Neighbour
  readonly identity: AskingIdentity
  readonly agent: Agent
}

function askOnce(asking: Asking, signal: AbortSignal): Promise<Answer | undefined> {
  const { neighbour, identity, agent } = asking
  return new Promise((resolve, reject) => {
    const asked = request({
      ...identity.current(),
      host: neighbour.address,
      port: neighbour.port,
      path: neighboursPath,
      agent,
      signal,
      // The certificate is checked below, without its dates and addresses.
      rejectUnauthorized: false,
    })
    asked.on('error', (error) => {
      const isStale = asked.reusedSocket && !signal.aborted
      reject(
        isStale ? new StaleConnectionError('The connection was closed', { cause: error }) : error,
      )
    })
    asked.on('response', (response) => resolve(readAnswer(response, asking)))
    asked.end()
  })
}

/** Any answer of the right node shows that it lives, but only a whole one has a word. */
async function readAnswer(
  response: IncomingMessage,
  { neighbour, identity }: Asking,
): Promise<Answer | undefined> {
  const { socket } = response
  const name = socket instanceof TLSSocket ? peerNode(socket, identity.authorityPem) : undefined
  if (name !== neighbour.name) {
    response.destroy()
    const found = name === undefined ? 'no node of this cluster' : `node "${name}"`
    throw new Error(`Cannot hear neighbour "${neighbour.name}": ${found} answers at its address`)
  }
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > answerBytesMax) {
      response.destroy()
      return undefined
    }
    chunks.push(chunk)
  }
  return response.statusCode === 200 ? parseAnswer(Buffer.concat(chunks).toString()) : undefined
}
