import type { Clock, Logger, Random } from '@skerry/base'
import type { Cluster } from '@skerry/client'
import type { TunnelHandler } from '@skerry/tunnel'
import type { AllowedService } from '@skerry/fleet-kinds'
import { withServices, type MemberNamespaceOf } from './service-dialer.ts'
import { createServiceFinder } from './service-finder.ts'

export interface AgentHandlerDeps {
  /** The cluster, with the agent's own rights. */
  readonly local: Cluster
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Returns the present addresses of this machine's interfaces; no service may lead to one of them. */
  readonly ownAddresses: () => readonly string[]
  /** If omitted, the agent has no virtual clusters. */
  readonly memberNamespaceOf?: MemberNamespaceOf | undefined
}

/**
 * Creates the handler of the hub's requests: to the cluster's API, and to the services that its operator
 * allows.
 */
export function createAgentHandler(
  api: TunnelHandler,
  allowed: readonly AllowedService[],
  { local, clock, random, log, ownAddresses, memberNamespaceOf }: AgentHandlerDeps,
): TunnelHandler {
  const finder = createServiceFinder(allowed, { local, clock, ownAddresses })
  return withServices(api, { finder, memberNamespaceOf, clock, random, log })
}
