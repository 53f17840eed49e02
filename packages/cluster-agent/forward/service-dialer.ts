import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { StatusError } from '@skerry/api'
import {
  asError,
  abortReason,
  withTimeout,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import type { TunnelHandler, TunnelRequest, TunnelUpgraded } from '@skerry/tunnel'
import { serviceText } from '@skerry/fleet-kinds'
import {
  connectedHeaders,
  connectRefusal,
  isConnect,
  parseConnect,
  type ServiceConnect,
  type SpokenProtocol,
  servicesLimits,
} from '@skerry/gateway'
import { auditIdOf } from './api-forwarder.ts'
import { opened, openTcp } from './open-tcp.ts'
import type { FoundService, ServiceFinder } from './service-finder.ts'

/**
 * Resolves with the edge's name of a virtual cluster's namespace. Rejects with StatusError NotFound if the
 * virtual cluster has no such namespace, and with ServiceUnavailable if this agent does not answer for it.
 */
export type MemberNamespaceOf = (
  asked: { readonly cluster: string; readonly namespace: string },
  signal: AbortSignal,
) => Promise<string>

export interface ServiceDialerDeps {
  readonly finder: ServiceFinder
  /** If omitted, the agent has no virtual clusters. */
  readonly memberNamespaceOf?: MemberNamespaceOf | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Answers a hub's CONNECT by a connection to the service; everything else is the API server's. */
export function withServices(api: TunnelHandler, deps: ServiceDialerDeps): TunnelHandler {
  const open = new Set<symbol>()
  return {
    onRequest: async (request, signal) =>
      isConnect(request) ? connectRefusal(badConnect()) : api.onRequest(request, signal),
    onUpgrade: async (request, signal) =>
      isConnect(request)
        ? connected(request, { ...deps, open }, signal)
        : api.onUpgrade(request, signal),
  }
}

function badConnect(): StatusError {
  return new StatusError('BadRequest', 'the agent does not know this form of request')
}

interface Dialer extends ServiceDialerDeps {
  /** One entry for each connection, from before it is dialled; at most `connectionsMax`. */
  readonly open: Set<symbol>
}

async function connected(
  request: TunnelRequest,
  dialer: Dialer,
  signal: AbortSignal,
): Promise<TunnelUpgraded> {
  const asked = parseConnect(request)
  const about = { auditId: auditIdOf(request), service: asked ? serviceText(asked.service) : '' }
  try {
    if (asked === undefined) throw badConnect()
    const meant = await atEdge(asked, dialer, signal)
    const { stream, spoken } = await dialInBounds(meant, dialer, signal)
    dialer.log.debug('Service reached', about)
    return { status: 101, headers: connectedHeaders(spoken), stream }
  } catch (error) {
    if (signal.aborted) throw abortReason(signal)
    const cause = asError(error)
    dialer.log.info('Service not reached', { ...about, error: cause })
    if (error instanceof StatusError) return connectRefusal(error)
    return connectRefusal(new StatusError('ServiceUnavailable', cause.message, { cause }))
  }
}

/** Replaces the namespace with the edge's name, which its operator knows and allows. */
async function atEdge(
  asked: ServiceConnect,
  { memberNamespaceOf }: Dialer,
  signal: AbortSignal,
): Promise<ServiceConnect> {
  const { service, virtual: cluster, ...wanted } = asked
  if (cluster === undefined) return asked
  if (memberNamespaceOf === undefined) throw badConnect()
  const namespace = await memberNamespaceOf({ cluster, namespace: service.namespace }, signal)
  return { service: { ...service, namespace }, ...wanted }
}

interface Dialled {
  readonly stream: Duplex
  readonly spoken: SpokenProtocol
}

async function dialInBounds(
  asked: ServiceConnect,
  dialer: Dialer,
  signal: AbortSignal,
): Promise<Dialled> {
  const { connectionsMax } = servicesLimits
  const { open } = dialer
  if (open.size >= connectionsMax) {
    const why = `${connectionsMax} connections to services of its cluster are open`
    throw new StatusError('TooManyRequests', why)
  }
  const slot = Symbol(serviceText(asked.service))
  open.add(slot)
  try {
    const dialled = await dialService(asked, dialer, signal)
    dialled.stream.once('close', () => open.delete(slot))
    return dialled
  } catch (error) {
    open.delete(slot)
    throw error
  }
}

async function dialService(
  asked: ServiceConnect,
  { finder, clock, random }: Dialer,
  signal: AbortSignal,
): Promise<Dialled> {
  const found = await finder.find(asked.service, signal)
  const addresses = shuffled(found.addresses, random).slice(0, servicesLimits.addressesTried)
  let fault: unknown
  for (const address of addresses) {
    try {
      return await dialAddress(address, { ...asked, found, clock }, signal)
    } catch (error) {
      fault = error
      signal.throwIfAborted()
    }
  }
  throw fault
}

/** Dials an address. Each end may close its half first. */
function dialAddress(
  address: { host: string; port: number },
  { found, clock, ...asked }: ServiceConnect & { found: FoundService; clock: Clock },
  signal: AbortSignal,
): Promise<Dialled> {
  const { connectMs: ms } = servicesLimits
  const message = `${address.host} port ${address.port}: no answer in ${ms} ms`
  return withTimeout({ ms, message, clock }, signal, async (scope) => {
    const tcp = await openTcp(address, scope)
    if (!asked.isTls) return { stream: tcp, spoken: found.isHttp2 ? 'h2' : 'unknown' }
    const secured = secure(tcp, asked)
    await opened(secured, 'secureConnect', scope)
    return { stream: secured, spoken: secured.alpnProtocol === 'h2' ? 'h2' : 'http/1.1' }
  })
}

/**
 * Starts TLS without checking the certificate, like the API server's own proxy: no authority is configured
 * for it.
 */
function secure(socket: Socket, { service, isUpgrade }: ServiceConnect): TLSSocket {
  const { namespace, name } = service
  const secured = connectTls({
    socket,
    servername: `${name}.${namespace}.svc`,
    rejectUnauthorized: false,
    ALPNProtocols: isUpgrade ? ['http/1.1'] : ['h2', 'http/1.1'],
  })
  // An error of the inner socket must reach the user of the outer one.
  socket.on('error', (error) => secured.destroy(error))
  return secured
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
