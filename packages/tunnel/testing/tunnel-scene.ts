import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type Clock, silentLogger, type SimulatedClock, simulatedClock } from '@skerry/base'
import type { TunnelHandler } from '../session/agent-session.ts'
import { dialTunnel, type DialTunnelOptions } from '../agent/tunnel-agent.ts'
import type { AgentSession } from '../session/agent-session.ts'
import type { TunnelSession } from '../session/hub-session.ts'
import { TunnelRegistry } from '../hub/tunnel-registry.ts'
import { createTunnelServer, type TunnelServerOptions } from '../hub/tunnel-server.ts'
import { createTestAuthority, type TestAuthority } from './test-certificates.ts'
import { type TunnelLimits } from '../limits-table.ts'

export interface SceneOptions {
  limits?: Partial<TunnelLimits>
  server?: Partial<
    Pick<
      TunnelServerOptions,
      'authenticate' | 'acceptsPerSecond' | 'onHandshake' | 'offers' | 'handlerOf'
    >
  >
  /** Whether a relay is between agent and hub. */
  viaRelay?: boolean
}

/** A hub on loopback with TLS and client certificates, and agents that dial it. */
export interface TunnelScene extends AsyncDisposable {
  readonly clock: SimulatedClock
  readonly registry: TunnelRegistry
  readonly relay: Relay
  endpoint(identity?: string): Promise<DialTunnelOptions>
  /** Dials, and gives both ends once the hub knows the agent. */
  connect(
    handler: TunnelHandler,
    identity?: string,
  ): Promise<{ hub: TunnelSession; agent: AgentSession }>
}

export async function createTunnelScene(options: SceneOptions = {}): Promise<TunnelScene> {
  const clock = simulatedClock()
  const authority = await createTestAuthority()
  const registry = new TunnelRegistry({}, clock)
  const server = await listen(authority, registry, options, clock)
  const relay = await createRelay(portOf(server))
  const stop = new AbortController()
  const port = options.viaRelay ? relay.port : portOf(server)
  const endpoint: TunnelScene['endpoint'] = async (identity = 'site-1') => ({
    url: `wss://localhost:${port}/tunnel`,
    tls: { ca: authority.ca, ...(await authority.issue(identity)) },
    ...(options.limits ? { limits: options.limits } : {}),
  })
  return {
    clock,
    registry,
    relay,
    endpoint,
    async connect(handler, identity = 'site-1') {
      const deps = { clock, log: silentLogger }
      const agent = await dialTunnel(await endpoint(identity), handler, deps, stop.signal)
      // The hub made its end before its answer let the dial succeed.
      const [hub] = registry.sessions(identity)
      if (hub === undefined) throw new Error('Cannot find session: the hub does not know it')
      return { hub, agent }
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('scene ends'))
      registry.closeAll('scene ends')
      relay.cut()
      await relay[Symbol.asyncDispose]()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function listen(
  authority: TestAuthority,
  registry: TunnelRegistry,
  options: SceneOptions,
  clock: Clock,
): Promise<Server> {
  const tls = {
    ca: authority.ca,
    requestCert: true,
    rejectUnauthorized: false,
    ...(await authority.issue('hub')),
  }
  const server = createServer(tls)
  const tunnels = createTunnelServer(
    {
      registry,
      ...(options.limits ? { limits: options.limits } : {}),
      authenticate: async (request) => {
        // An HTTPS server's sockets are TLS sockets.
        const socket = request.socket as TLSSocket
        const name = socket.authorized ? socket.getPeerCertificate().subject.CN : undefined
        if (typeof name === 'string') return { identity: name }
        return { status: 401, reason: 'no client certificate' }
      },
      ...options.server,
    },
    { clock, log: silentLogger },
  )
  server.on('upgrade', tunnels.onUpgrade)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Forwards bytes, and can fail as networks do. */
export interface Relay extends AsyncDisposable {
  readonly port: number
  /** The number of connections so far. */
  readonly dials: number
  /** Resets every connection. */
  cut(): void
  /** Drops everything silently, like a NAT that forgot the flow. */
  blackHole(): void
  /** Holds everything until resume(), which releases it, as over a link that was down. */
  stall(): void
  resume(): void
}

async function createRelay(targetPort: number): Promise<Relay> {
  const sockets = new Set<Socket>()
  let isDark = false
  let dials = 0
  const server = createTcpServer((near) => {
    dials += 1
    const far = connect(targetPort, '127.0.0.1')
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      sockets.add(from)
      from.on('data', (chunk: Buffer) => {
        if (!isDark && !to.write(chunk)) from.pause()
      })
      to.on('drain', () => from.resume())
      from.on('end', () => to.end())
      from.on('error', () => to.destroy())
      from.on('close', () => sockets.delete(from))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: portOf(server),
    get dials() {
      return dials
    },
    cut() {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    blackHole() {
      isDark = true
    },
    stall() {
      for (const socket of sockets) socket.pause()
    },
    resume() {
      for (const socket of sockets) socket.resume()
    },
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}

function portOf(server: { address(): ReturnType<Server['address']> }): number {
  const address = server.address()
  if (address === null || typeof address === 'string')
    throw new Error('Cannot tell port: not listening')
  return address.port
}
