import * as http from 'node:http'
import * as https from 'node:https'
import type { Duplex } from 'node:stream'
import {
  destinationOf,
  secureConnection,
  withTimeout,
  type Clock,
  type Connect,
  type SecureOptions,
} from '@skerry/base'
import { clientLimits } from './limits-table.ts'

/** The caller's way to a server. */
export interface ServerWay {
  connect: Connect
  base: URL
  tls: ConnectionChecks
  clock: Pick<Clock, 'setTimer'>
}

export interface ConnectingAgentOptions extends ServerWay {
  /** The options of kept-alive sockets. */
  sockets: http.AgentOptions
}

/** For https: the trusted authorities and the client's credentials. */
export interface ConnectionChecks extends Omit<SecureOptions, 'host'> {
  /** Replaces the URL's host in the check. */
  serverName?: string
}

/** Creates an Agent whose connections the caller opens, e.g. through a proxy. */
export function connectingAgent(
  { connect, base, sockets, tls, clock }: ConnectingAgentOptions,
  signal: AbortSignal,
): http.Agent {
  const agent = base.protocol === 'http:' ? new http.Agent(sockets) : new https.Agent(sockets)
  agent.createConnection = (_options, onCreated) => {
    openByWay({ connect, base, tls, clock }, signal).then(
      (socket) => onCreated?.(null, socket),
      // The types require a stream next to the error; Node checks the error first.
      (error: Error) => onCreated?.(error, undefined as never),
    )
    return undefined
  }
  return agent
}

/**
 * Opens a connection with the caller's function, with TLS inside it for https. Rejects with the
 * reason for a failure.
 */
export function openByWay(
  { connect, base, tls, clock }: ServerWay,
  signal: AbortSignal,
): Promise<Duplex> {
  const to = destinationOf(base)
  const { serverName = to.host, ...checks } = tls
  const ms = clientLimits.wayTimeoutMs
  const message = `Cannot connect to ${base.host}: no connection in ${ms} ms`
  return withTimeout({ ms, message, clock }, signal, async (scope) => {
    const raw = await connect(to, scope)
    if (base.protocol === 'http:') return raw
    return secureConnection(raw, { host: serverName, ...checks }, scope)
  })
}
