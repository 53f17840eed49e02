import { lookup } from 'node:dns/promises'
import { isIPv4 } from 'node:net'
import type { Duplex } from 'node:stream'
import { StatusError } from '@skerry/api'
import {
  abortReason,
  addressKind,
  asError,
  messageOf,
  sameAddressAs,
  unlessAborted,
  withTimeout,
  type Clock,
  type Logger,
  type Wrapper,
} from '@skerry/base'
import { coversDial, dialText, type AllowedDial, type DialAddress } from '@skerry/fleet-kinds'
import { connectedHeaders, connectRefusal, parseDial, servicesLimits } from '@skerry/gateway'
import type { TunnelHandler, TunnelUpgraded } from '@skerry/tunnel'
import { openTcp } from './open-tcp.ts'

export interface AddressDialerDeps {
  /** Resolves with the addresses that the edge's operator allows at the moment. */
  readonly allowed: () => Promise<readonly AllowedDial[]>
  /** Returns the present addresses of this machine's interfaces; no dial leads to one of them. */
  readonly ownAddresses: () => readonly string[]
  /** Resolves with every IP address of a DNS name. If omitted, the system's resolver is asked. */
  readonly resolve?: (name: string) => Promise<readonly string[]>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Returns a wrapper that answers a hub's dials: TCP connections to the addresses that the edge's operator allows, and
 * to no other. None leads to this machine itself, to its link or to the credentials of a cloud, whatever is allowed.
 */
export function allowedDials(deps: AddressDialerDeps): Wrapper<TunnelHandler> {
  const open = new Set<symbol>()
  return (inner) => ({
    onRequest: (request, signal) => inner.onRequest(request, signal),
    async onUpgrade(request, signal) {
      const asked = parseDial(request)
      if (asked === undefined) return inner.onUpgrade(request, signal)
      return answer(asked, { ...deps, open }, signal)
    },
  })
}

interface Dialer extends AddressDialerDeps {
  /** One entry for each connection, from before it is dialled; at most `dialsMax`. */
  readonly open: Set<symbol>
}

async function answer(
  asked: DialAddress,
  dialer: Dialer,
  signal: AbortSignal,
): Promise<TunnelUpgraded> {
  const about = { address: dialText(asked) }
  try {
    const stream = await dialInBounds(asked, dialer, signal)
    dialer.log.info('Address dialled for the hub', about)
    return { status: 101, headers: connectedHeaders('unknown'), stream }
  } catch (error) {
    if (signal.aborted) throw abortReason(signal)
    const cause = asError(error)
    dialer.log.info('Address not dialled', { ...about, error: cause })
    if (error instanceof StatusError) return connectRefusal(error)
    return connectRefusal(new StatusError('ServiceUnavailable', cause.message, { cause }))
  }
}

async function dialInBounds(
  asked: DialAddress,
  dialer: Dialer,
  signal: AbortSignal,
): Promise<Duplex> {
  const { open } = dialer
  if (open.size >= servicesLimits.dialsMax) {
    const why = `${servicesLimits.dialsMax} connections to machines are open there`
    throw new StatusError('TooManyRequests', why)
  }
  const slot = Symbol(dialText(asked))
  open.add(slot)
  try {
    const stream = await dial(asked, dialer, signal)
    stream.once('close', () => open.delete(slot))
    return stream
  } catch (error) {
    open.delete(slot)
    throw error
  }
}

async function dial(asked: DialAddress, dialer: Dialer, signal: AbortSignal): Promise<Duplex> {
  if (!coversDial(await dialer.allowed(), asked)) {
    const why = `its agent does not allow it; start the agent with --allow-dial ${dialText(asked)}`
    throw new StatusError('Forbidden', why)
  }
  const { connectMs: ms } = servicesLimits
  const message = `${asked.address} port ${asked.port}: no answer in ${ms} ms`
  return withTimeout({ ms, message, clock: dialer.clock }, signal, async (scope) => {
    const host = await machineAt(asked.address, dialer, scope)
    return openTcp({ host, port: asked.port }, scope)
  })
}

/** Resolves once, so that a name that changes in between changes nothing. */
async function machineAt(
  address: string,
  { resolve = addressesOf, ownAddresses }: Dialer,
  signal: AbortSignal,
): Promise<string> {
  const found = isIPv4(address) ? [address] : await resolved(address, resolve, signal)
  for (const each of found) {
    const isOwn = ownAddresses().some(sameAddressAs(each))
    if (!isOwn && addressKind(each) === 'ordinary') continue
    const why = isOwn ? "the agent's own machine" : 'no machine of its network'
    throw new StatusError('Forbidden', `the agent does not dial it: ${each} is ${why}`)
  }
  const [host] = found
  if (host === undefined) throw new StatusError('ServiceUnavailable', 'its name has no address')
  return host
}

async function resolved(
  name: string,
  resolve: (name: string) => Promise<readonly string[]>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    return await unlessAborted(resolve(name), signal)
  } catch (error) {
    signal.throwIfAborted()
    throw new StatusError('ServiceUnavailable', messageOf(error), { cause: error })
  }
}

async function addressesOf(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true, order: 'ipv4first' })
  return found.map(({ address }) => address)
}
