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
import { carrierPath, carrierProtocol } from './carrier-path.ts'
import { carrierLimits } from '../limits-table.ts'

/**
 * Returns a way to a hub behind a proxy that intercepts TLS: a WebSocket to the hub that carries a second TLS
 * connection. The outer certificate is the proxy's and is not checked, because nothing depends on it. The
 * content must be TLS that both ends check, because the proxy could read and change anything else. The way
 * leads to that hub only.
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

/** The statuses of a hub that does not know the path, or does not allow it. */
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
