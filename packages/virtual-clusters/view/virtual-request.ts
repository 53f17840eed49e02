import type { TunnelHeaders, TunnelRequest } from '@skerry/tunnel'

/** Only a hub says so: what clients send under these names ends there (forwarded-headers.ts). */
const clusterHeader = 'x-skerry-virtual-cluster'
const userHeader = 'x-skerry-virtual-user'
const impersonateUser = 'impersonate-user'

/**
 * The request as it goes to the agent of a virtual cluster's parent. The user has another name on the
 * way: an agent that knows no virtual clusters then refuses the request, instead of answering for the
 * whole of its cluster.
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

/** What a hub has made by `towardsVirtual`; undefined of a request to the cluster as a whole. */
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
