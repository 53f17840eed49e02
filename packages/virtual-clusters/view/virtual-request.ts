import type { TunnelHeaders, TunnelRequest } from '@skerry/tunnel'

/** Only a hub sets this header; it drops what clients send under this name (forwarded-headers.ts). */
const clusterHeader = 'x-skerry-virtual-cluster'
const userHeader = 'x-skerry-virtual-user'
const impersonateUser = 'impersonate-user'

/**
 * Rewrites a request for the agent of a virtual cluster's parent. The user travels under another header name,
 * so that an agent that knows no virtual clusters refuses the request instead of answering for its whole
 * cluster.
 */
export function towardsVirtual(request: TunnelRequest, cluster: string): TunnelRequest {
  const { [impersonateUser]: user, ...headers } = request.headers
  const named: TunnelHeaders = {
    ...headers,
    [clusterHeader]: cluster,
    ...(user === undefined ? {} : { [userHeader]: user }),
  }
  return { ...request, headers: named }
}

export interface VirtualRequest {
  /** Name of the Cluster; not checked. */
  readonly cluster: string
  readonly request: TunnelRequest
}

/**
 * Reads a request that a hub made with `towardsVirtual`. Returns undefined for a request to the edge cluster
 * as a whole.
 */
export function readVirtualRequest(request: TunnelRequest): VirtualRequest | undefined {
  const { [clusterHeader]: cluster, [userHeader]: user, ...headers } = request.headers
  if (cluster === undefined) return undefined
  const named: TunnelHeaders =
    user === undefined ? headers : { ...headers, [impersonateUser]: user }
  return {
    cluster: typeof cluster === 'string' ? cluster : cluster.join(','),
    request: { ...request, headers: named },
  }
}
