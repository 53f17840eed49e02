import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '@skerry/base'
import { answerUpgrade, asksForWebSocket } from '../web-socket/answer-upgrade.ts'
import { webSocketStream } from '../web-socket/web-socket-stream.ts'
import { carrierProtocol } from './carrier-path.ts'
import { carrierLimits } from '../limits-table.ts'

export interface CarrierServerOptions {
  /**
   * Receives the inner connection, which speaks TLS and is not authenticated yet, and the socket that carries
   * it.
   */
  readonly accept: (connection: Duplex, socket: Duplex) => void
  readonly clock: Clock
  limits?: Partial<Pick<typeof carrierLimits, 'carriersMax' | 'messageBytesMax'>>
}

/** Why a carrier was not opened, for the caller to answer. */
export class CarrierRefusal extends Error {
  override name = 'CarrierRefusal'
  readonly status: 400 | 503

  constructor(status: 400 | 503, message: string) {
    super(message)
    this.status = status
  }
}

/** The hub's end of what connect-by-carrier.ts opens. */
export interface CarrierServer {
  readonly open: number
  /** Handles an upgrade to this path. Throws CarrierRefusal. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

export function createCarrierServer({
  accept,
  clock,
  limits,
}: CarrierServerOptions): CarrierServer {
  const { carriersMax, messageBytesMax } = { ...carrierLimits, ...limits }
  let open = 0
  return {
    get open() {
      return open
    },
    upgrade(request, socket, head) {
      const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',')
      if (!asksForWebSocket(request)) {
        throw new CarrierRefusal(400, 'Cannot carry: this is for WebSockets of version 13')
      }
      if (!offered.some((name) => name.trim() === carrierProtocol)) {
        throw new CarrierRefusal(400, `Cannot carry: this speaks ${carrierProtocol}`)
      }
      if (open >= carriersMax) {
        throw new CarrierRefusal(503, `Cannot carry: ${carriersMax} carriers are open`)
      }
      open += 1
      socket.once('close', () => (open -= 1))
      const options = { masks: 'none', messageBytesMax, clock } as const
      answerUpgrade(request, { socket, head }, { 'Sec-WebSocket-Protocol': carrierProtocol })
      const connection = webSocketStream(socket, options)
      // The receiver listens, too, but an error before that must not go unhandled.
      connection.on('error', () => undefined)
      accept(connection, socket)
    },
  }
}
