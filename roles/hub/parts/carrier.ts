import type { Duplex } from 'node:stream'
import { StatusError } from '@skerry/api'
import type { Authorizer, Route } from '@skerry/apiserver'
import { CarrierRefusal, carrierLimits, carrierPath, createCarrierServer } from '@skerry/tunnel'
import type { HubPart, OpenHub } from '../contract/hub-part.ts'

export interface CarrierOptions {
  /** True: agents may come inside WebSockets, past boxes that open TLS. */
  allowInspectedTls?: boolean | undefined
}

/**
 * Takes connections that come inside WebSockets, past boxes that open TLS. Anyone may open one, as anyone may open
 * a connection to the port: inside, the hub's own TLS begins, and its callers are known as on any other connection.
 */
export function carrier({ allowInspectedTls }: CarrierOptions): HubPart {
  if (allowInspectedTls !== true) return {}
  return { routes: (hub) => [carrierRoute(hub)], access: () => ({ authorizers: [anybody] }) }
}

function carrierRoute({ server, context: { clock, log } }: OpenHub): Route {
  const sources = new WeakMap<object, string>()
  const carriers = createCarrierServer({
    accept: (connection: Duplex, socket) => server.take(connection, sources.get(socket) ?? ''),
    clock,
  })
  return {
    prefix: carrierPath,
    serve: async () => {
      throw new StatusError('BadRequest', 'Cannot carry: this path is for WebSockets')
    },
    async upgrade({ request }, { socket, head }) {
      const { message, peer } = request
      if (!message) throw new TypeError('Cannot upgrade: the request did not arrive over HTTP/1.1')
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
}

const anybody: Authorizer = {
  async authorize({ isResourceRequest, path, verb }) {
    const isAsked = !isResourceRequest && verb === 'get' && path === carrierPath
    return { verdict: isAsked ? 'allow' : 'no-opinion', reason: '' }
  },
}

function refusal(cause: CarrierRefusal): StatusError {
  if (cause.status === 400) return new StatusError('BadRequest', cause.message, { cause })
  const { retryAfterSeconds } = carrierLimits
  return new StatusError('ServiceUnavailable', cause.message, {
    cause,
    details: { retryAfterSeconds },
  })
}
