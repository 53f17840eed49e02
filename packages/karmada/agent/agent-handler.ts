import type { Clock, Logger, Random } from '@skerry/base'
import type { Cluster } from '@skerry/client'
import type { TunnelHandler } from '@skerry/tunnel'
import type { AllowedService } from '../services/allowed-service.ts'
import { withServices } from './service-dialer.ts'
import { createServiceFinder } from './service-finder.ts'

export interface AgentHandlerDeps {
  /** The cluster, with the agent's own rights. */
  readonly local: Cluster
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** What an agent answers its hub: the cluster's API, and the services that its operator allows. */
export function createAgentHandler(
  api: TunnelHandler,
  allowed: readonly AllowedService[],
  { local, clock, random, log }: AgentHandlerDeps,
): TunnelHandler {
  const finder = createServiceFinder(allowed, { local, clock })
  return withServices(api, { finder, random, log })
}
