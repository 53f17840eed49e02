import type { Duplex } from 'node:stream'
import { StatusError } from '@skerry/api'
import type { ExtraAccess, Route } from '@skerry/apiserver'
import { systemClock, type Logger } from '@skerry/base'
import { CarrierRefusal, carrierLimits, carrierPath, createCarrierServer } from '@skerry/tunnel'
import type { ControlPlane } from '../control-plane/control-plane.ts'

/** Accepts connections to a hub inside WebSockets, through proxies that intercept TLS. */
export interface HubCarrier {
  readonly routes: readonly Route[]
  readonly authorizers: NonNullable<ExtraAccess['authorizers']>
  /** Called once the server serves. */
  attach(plane: ControlPlane): void
}

/**
 * Allows anyone to open one, as anyone may connect to the port: the hub's own TLS begins inside, and its
 * clients are authenticated as on any other connection.
 */
export function createHubCarrier(isAllowed: boolean, { log }: { log: Logger }): HubCarrier {
  if (!isAllowed) return { routes: [], authorizers: [], attach: () => undefined }
  const attached: { plane?: ControlPlane } = {}
  const sources = new WeakMap<object, string>()
  const take = (connection: Duplex, address: string): void => {
    const { plane } = attached
    if (plane) plane.server.take(connection, address)
    else connection.destroy()
  }
  const carriers = createCarrierServer({
    accept: (connection, socket) => take(connection, sources.get(socket) ?? ''),
    clock: systemClock,
  })
  const route: Route = {
    prefix: carrierPath,
    serve: async () => {
      throw new StatusError('BadRequest', 'Cannot carry: this path is for WebSockets')
    },
    async upgrade({ request }, { socket, head }) {
      const { message, peer } = request
      if (!message) throw new TypeError('Cannot upgrade: it did not come by HTTP/1.1')
      const address = peer.type === 'socket' ? peer.address : ''
      sources.set(socket, address)
      try {
        carriers.upgrade(message, socket, Buffer.from(head))
      } catch (error) {
        if (!(error instanceof CarrierRefusal)) throw error
        log.info('Carrier refused', { address, error })
        throw refusal(error)
      }
    },
  }
  return {
    routes: [route],
    authorizers: [
      {
        async authorize({ isResourceRequest, path, verb }) {
          const isAsked = !isResourceRequest && verb === 'get' && path === carrierPath
          return { verdict: isAsked ? 'allow' : 'no-opinion', reason: '' }
        },
      },
    ],
    attach: (plane) => void (attached.plane = plane),
  }
}

function refusal(cause: CarrierRefusal): StatusError {
  if (cause.status === 400) return new StatusError('BadRequest', cause.message, { cause })
  const { retryAfterSeconds } = carrierLimits
  return new StatusError('ServiceUnavailable', cause.message, {
    cause,
    details: { retryAfterSeconds },
  })
}
