import {
  ConnectError,
  destinationOf,
  hostAndPort,
  linkedSignal,
  secureConnection,
  type Clock,
  type Connect,
} from '@skerry/base'
import { TunnelDialError } from '../web-socket/tunnel-dial-error.ts'
import { openWebSocket } from '../web-socket/open-web-socket.ts'
import { webSocketStream } from '../web-socket/web-socket-stream.ts'
import { carrierLimits, carrierPath, carrierProtocol } from './carrier-limits.ts'

/**
 * To a hub past a box that opens TLS: a WebSocket to the hub, in which a second TLS connection has room.
 * The outer TLS is whoever's it is and is not checked: nothing rests on it. What passes inside must be TLS
 * that both ends check, as the box could read and change anything else. Leads to that hub only.
 */
export function connectByCarrier(
  hub: string,
  connect: Connect,
  { clock }: { clock: Clock },
): Connect {
  const base = new URL(hub)
  const own = destinationOf(base)
  const { openMs, messageBytesMax } = carrierLimits
  return async (to, signal) => {
    if (to.host !== own.host || to.port !== own.port) {
      throw new RangeError(`Cannot reach ${hostAndPort(to)}: this way leads to ${base.host} only`)
    }
    using scope = linkedSignal(signal)
    const late = `Cannot reach ${base.host} within a WebSocket: no answer in ${openMs} ms`
    using _timer = clock.setTimer(openMs, () => scope.abort(new ConnectError(late)))
    const raw = await connect(own, scope.signal)
    const outer = await secureConnection(raw, { host: own.host, isUnchecked: true }, scope.signal)
    try {
      const asked = {
        url: `wss://${base.host}${carrierPath}`,
        protocol: carrierProtocol,
        what: 'carrier',
      }
      const { masks } = await openWebSocket(outer, asked, scope.signal)
      return webSocketStream(outer, { masks, messageBytesMax, clock })
    } catch (error) {
      outer.destroy()
      throw explained(error, base.host)
    }
  }
}

/** What a hub says that does not know the path, or does not let it be used. */
const refusals = new Set([400, 401, 403, 404, 405])

function explained(cause: unknown, host: string): unknown {
  if (!(cause instanceof TunnelDialError)) return cause
  const { message, status } = cause
  if (status === undefined) return new ConnectError(message, { cause })
  const text = refusals.has(status)
    ? `${message}: does ${host} run with --allow-inspected-tls, and does the box in between pass WebSockets?`
    : message
  return new ConnectError(text, { cause, status })
}
