import type { Duplex } from 'node:stream'
import { StatusError } from '@skerry/api'
import { messageOf } from '@skerry/base'
import { dialAddressOf, dialText, type DialAddress } from '@skerry/fleet-kinds'
import { isSwitched, type TunnelRequest } from '@skerry/tunnel'
import type { ClusterWay } from '../way/cluster-way.ts'
import { connectMethod, isConnect, refusalOf, serviceProtocol } from './service-link.ts'

/**
 * Defines how a hub asks an agent for a TCP connection to an address: CONNECT with this path, on a stream that becomes
 * bytes, as for services. Only the hub itself asks; no user's request becomes one.
 */
const dialPrefix = '/dial/'

/** Returns the address that a hub asks for, or undefined for any other request. */
export function parseDial(request: TunnelRequest): DialAddress | undefined {
  if (!isConnect(request) || !request.path.startsWith(dialPrefix)) return undefined
  const [host = '', port = '', ...more] = request.path.slice(dialPrefix.length).split('/')
  return more.length > 0 ? undefined : dialAddressOf(host, port)
}

/**
 * Resolves with a TCP connection that the agent of a cluster has opened. Throws a StatusError that names the cluster and
 * the address: Forbidden if the agent does not allow it, ServiceUnavailable otherwise.
 */
export async function connectAddress(
  way: Pick<ClusterWay, 'upgrade'>,
  { cluster, ...to }: DialAddress & { readonly cluster: string },
  signal: AbortSignal,
): Promise<Duplex> {
  const where = `Cannot dial ${dialText(to)} through cluster "${cluster}"`
  const request = {
    method: connectMethod,
    path: `${dialPrefix}${to.address}/${to.port}`,
    headers: { connection: 'Upgrade', upgrade: serviceProtocol },
  }
  try {
    const answer = await way.upgrade(cluster, request, signal)
    if (isSwitched(answer)) return answer.stream
    throw await refusalOf(answer, { where, what: 'dials' })
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof StatusError) throw error
    throw new StatusError('ServiceUnavailable', `${where}: ${messageOf(error)}`, { cause: error })
  }
}
