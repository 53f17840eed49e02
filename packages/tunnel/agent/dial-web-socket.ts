import type { Duplex } from 'node:stream'
import {
  ConnectError,
  connectByTcp,
  destinationOf,
  linkedSignal,
  secureConnection,
  type Clock,
} from '@skerry/base'
import { endWithAddress } from './lost-address.ts'
import { TunnelDialError } from '../web-socket/tunnel-dial-error.ts'
import { featuresHeader, ownFeaturesText } from '../frame/tunnel-features.ts'
import { messageBytesMax } from '../frame/validate-tunnel-limits.ts'
import type { TunnelDial, TunnelEndpoint } from '../frame/tunnel-link.ts'
import { openWebSocket } from '../web-socket/open-web-socket.ts'
import { webSocketLink } from '../web-socket/web-socket-link.ts'
import { type TunnelLimits } from '../limits-table.ts'

/** Names the protocol in the handshake; a change that old peers cannot speak gets a new number. */
export const tunnelProtocol = 'tunnel.v2.skerry'

/** Connects step by step (the way there, TLS, WebSocket), so that an error names the step. */
export function webSocketDial(limits: TunnelLimits, clock: Clock): TunnelDial {
  return async (endpoint, signal) => {
    using scope = linkedSignal(signal)
    const text = `Cannot dial ${endpoint.url}: no answer in ${limits.dialMs} ms`
    using _timer = clock.setTimer(limits.dialMs, () => scope.abort(new TunnelDialError(text, {})))
    const socket = await openSocket(endpoint, { limits, clock }, scope.signal)
    const { url, headers = {} } = endpoint
    endWithAddress(socket, { clock })
    try {
      const opened = await openWebSocket(
        socket,
        {
          url,
          protocol: tunnelProtocol,
          headers: { ...headers, [featuresHeader]: ownFeaturesText },
          what: 'tunnel',
        },
        scope.signal,
      )
      const features = opened.headers[featuresHeader]
      return webSocketLink(socket, {
        masks: opened.masks,
        messageBytesMax: messageBytesMax(limits),
        clock,
        featuresText: typeof features === 'string' ? features : undefined,
      })
    } catch (error) {
      socket.destroy()
      throw error
    }
  }
}

async function openSocket(
  endpoint: TunnelEndpoint,
  { limits, clock }: { limits: Pick<TunnelLimits, 'connectMs'>; clock: Clock },
  signal: AbortSignal,
): Promise<Duplex> {
  const url = new URL(endpoint.url)
  const to = destinationOf(url)
  // The kernel asks again after 1, 2, 4, 8 s: while a link is down that grows past what an operator
  // waits for once it is back. So an attempt is given up early, and the agent makes a fresh one.
  const connect = endpoint.connect ?? connectByTcp({ timeoutMs: limits.connectMs, clock })
  try {
    const raw = await connect(to, signal)
    if (url.protocol !== 'wss:') return raw
    const { serverName = to.host, ...pems } = endpoint.tls ?? {}
    return await secureConnection(raw, { host: serverName, isPatient: true, ...pems }, signal)
  } catch (cause) {
    if (!(cause instanceof ConnectError)) throw cause
    const { message, status } = cause
    throw new TunnelDialError(message, { cause, ...(status === undefined ? {} : { status }) })
  }
}
