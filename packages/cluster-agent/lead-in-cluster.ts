import { isStatusError } from '@skerry/api'
import type { Clock, Logger, Random } from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import { runAsLeader } from '@skerry/controller-runtime'
import { clusterAgentBounds } from './limits-table.ts'

export interface LeadInClusterOptions {
  /** The name under which the agent is registered. */
  readonly clusterName: string
  /** An identity that is unique among its agents, e.g. `<host>_<uuid>`. */
  readonly identity: string
}

export interface LeadInClusterDeps {
  readonly local: ClusterClient
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const leaseNamespace = 'kube-system'
const { timing } = clusterAgentBounds.leadInCluster

/**
 * Runs a task in only one agent of a cluster: the holder of the cluster's Lease `karmada-agent-<name>`. An
 * agent without access to Leases there runs the task anyway, and logs that. Runs until the signal aborts;
 * rejects with its reason, or when the task fails.
 */
export async function leadInCluster(
  { clusterName, identity }: LeadInClusterOptions,
  deps: LeadInClusterDeps,
  signal: AbortSignal,
  task: (scope: AbortSignal) => Promise<unknown>,
): Promise<unknown> {
  const name = leaseName(clusterName)
  const leading = async (scope: AbortSignal): Promise<never> => {
    await task(scope)
    scope.throwIfAborted()
    throw new Error(`Cannot lead by ${name}: the task has ended by itself`)
  }
  if (await isRefused(name, deps, signal)) {
    deps.log.info('No Lease is available, so a second agent would do the same work', {
      lease: name,
    })
    return leading(signal)
  }
  const election = { namespace: leaseNamespace, name, identity, ...timing }
  return runAsLeader(election, { ...deps, cluster: deps.local }, signal, leading)
}

/** Resolves with the holder of that Lease, by this machine's clock; undefined if there is none. */
export async function leadingAgent(
  clusterName: string,
  { local, clock }: Pick<LeadInClusterDeps, 'local' | 'clock'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const key = { namespace: leaseNamespace, name: leaseName(clusterName) }
  const found = await local
    .resource(resources.leases)
    .get(key, signal)
    .catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error
    })
  const { holderIdentity, renewTime = '', leaseDurationSeconds = 0 } = found?.spec ?? {}
  const isHeld = Date.parse(renewTime) + leaseDurationSeconds * 1_000 > clock.now()
  return isHeld && holderIdentity ? holderIdentity : undefined
}

function leaseName(clusterName: string): string {
  return `karmada-agent-${clusterName}`
}

/** An operator who narrows an agent's rights may forget its Lease. */
async function isRefused(
  name: string,
  { local }: LeadInClusterDeps,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await local.resource(resources.leases).get({ namespace: leaseNamespace, name }, signal)
  } catch (error) {
    signal.throwIfAborted()
    return isStatusError(error, 'Forbidden')
  }
  return false
}
