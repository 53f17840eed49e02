import type { Clock, Logger, Random, Wrapper } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import type { TunnelHandler } from '@skerry/tunnel'
import type { AllowedService } from '@skerry/fleet-kinds'
import { withServices, type MemberNamespaceOf } from './service-dialer.ts'
import { createServiceFinder } from './service-finder.ts'

export interface AllowedServicesDeps {
  /** The cluster, with the agent's own rights. */
  readonly local: ClusterClient
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Returns the present addresses of this machine's interfaces; no service may lead to one of them. */
  readonly ownAddresses: () => readonly string[]
  /** If omitted, the agent has no virtual clusters. */
  readonly memberNamespaceOf?: MemberNamespaceOf | undefined
}

/**
 * Returns a wrapper that answers requests for the services that the edge's operator allows. The API of the
 * cluster gets the others.
 */
export function allowedServices(
  allowed: readonly AllowedService[],
  { local, clock, random, log, ownAddresses, memberNamespaceOf }: AllowedServicesDeps,
): Wrapper<TunnelHandler> {
  const finder = createServiceFinder(allowed, { local, clock, ownAddresses })
  return (api) => withServices(api, { finder, memberNamespaceOf, clock, random, log })
}
