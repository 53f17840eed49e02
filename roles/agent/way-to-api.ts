import { wrapped } from '@skerry/base'
import type { ClusterClient, HttpsTransportConfig } from '@skerry/client'
import { allowedDials, allowedServices, tracedHandler } from '@skerry/cluster-agent'
import type { AllowedService } from '@skerry/fleet-kinds'
import type { TunnelHandler } from '@skerry/tunnel'
import type { VirtualViews } from '@skerry/virtual-clusters'
import { interfaceAddresses } from '../runtime/host-addresses.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { readAllowedDials, type DialOptions } from './allowed-dials.ts'

export interface WayToApiOptions {
  readonly clusterName: string
  /** The cluster's own API server. */
  readonly api: Pick<HttpsTransportConfig, 'server'>
  /** Services of the cluster that the hub may reach. Default: none. */
  readonly services?: readonly AllowedService[]
  /** Machines that the hub may dial. Default: none. */
  readonly dials?: DialOptions
  /** Returns addresses to which no service may lead. Default: those of this machine's interfaces. */
  readonly ownAddresses?: () => readonly string[]
}

export interface WayToApiParts {
  /** Passes requests to the API server. */
  readonly forwarder: TunnelHandler
  readonly local: ClusterClient
  /** If omitted, the agent answers for no virtual cluster. */
  readonly views?: VirtualViews | undefined
  readonly metrics: { measured(handler: TunnelHandler): TunnelHandler }
}

/** Answers the hub. A request passes the list from its last line to its first; each line may answer it. */
export function wayToApi(
  {
    clusterName: cluster,
    api,
    services = [],
    dials = {},
    ownAddresses = interfaceAddresses,
  }: WayToApiOptions,
  { forwarder, local, views, metrics }: WayToApiParts,
  { clock, random, log, tracer }: RoleContext,
): TunnelHandler {
  const traces = { attributes: { cluster }, server: new URL(api.server) }
  const memberNamespaceOf = views?.memberNamespaceOf
  return wrapped(forwarder, [
    ...(tracer ? [tracedHandler(tracer, traces)] : []),
    ...(views ? [(inner: TunnelHandler) => views.handler(inner)] : []),
    allowedServices(services, { local, clock, random, log, ownAddresses, memberNamespaceOf }),
    allowedDials({ allowed: () => readAllowedDials(dials), ownAddresses, clock, log }),
    (inner) => metrics.measured(inner),
  ])
}
