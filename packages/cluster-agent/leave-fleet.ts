import { isStatusError } from '@skerry/api'
import { createBackoff, linkedSignal, type Clock, type Logger, type Random } from '@skerry/base'
import { ifThere, type ClusterClient } from '@skerry/client'
import { clusterResource, executionNamespace } from '@skerry/fleet-kinds'
import { workResource, type Work } from '@skerry/karmada-kinds'
import { sayNotReady } from './report/say-not-ready.ts'
import { asTheyAre } from './work/manifest-mapping.ts'
import { MemberCluster } from './work/member-cluster.ts'
import { takeWork } from './work/take-work.ts'
import { clusterAgentBounds } from './limits-table.ts'

export interface LeavingOptions {
  readonly clusterName: string
  /** True keeps the objects of Works running, without an owner; false deletes them. */
  readonly keepsObjects: boolean
  /** Called once for each thing that is waited for. */
  readonly onWaiting?: (what: string) => void
}

export interface LeavingDeps {
  /** The hub, as the cluster's agent, whose process has ended. */
  readonly hub: ClusterClient
  readonly local: ClusterClient
  /** Asks a hub to remove the cluster if its agents may not delete it. If omitted, its Cluster is deleted. */
  readonly strikeOff?: (signal: AbortSignal) => Promise<void>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/**
 * Takes a cluster out of the fleet: its Works' objects out of the cluster, then its Cluster off the control
 * plane. Waits until that is gone, or the signal aborts; may be called again.
 */
export async function leaveFleet(
  options: LeavingOptions,
  deps: LeavingDeps,
  signal: AbortSignal,
): Promise<void> {
  const { clusterName: name, onWaiting = () => {} } = options
  const clusters = deps.hub.resource(clusterResource)
  const found = await ifThere(clusters.get({ name }, signal))
  if (found === undefined) return
  // A cluster that is already leaving has no Works any more, and its agent may no longer read them.
  if (!found.metadata.deletionTimestamp) {
    const isTaken = () => takeObjects(options, deps, signal)
    await until(isTaken, deps, signal, () => onWaiting('objects of its Works'))
    // Afterwards the hub no longer knows the agent, so the agent cannot ask.
    if (deps.strikeOff) return deps.strikeOff(signal)
    await until(
      () => sayNotReady(name, deps, signal),
      deps,
      signal,
      () => {},
    )
    await ifThere(clusters.delete({ name }, signal))
  }
  const hasLeft = () => isGone(() => clusters.get({ name }, signal))
  await until(hasLeft, deps, signal, () => onWaiting('its Cluster at the control plane'))
}

async function takeObjects(
  { clusterName, keepsObjects }: LeavingOptions,
  { hub, local, ...rest }: LeavingDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const request = { namespace: executionNamespace(clusterName) }
  const { items } = await hub.resource(workResource).list(request, signal)
  using stop = linkedSignal(signal)
  const member = new MemberCluster(local, rest)
  const from = { clusterName, member, mapping: asTheyAre }
  try {
    let isTaken = true
    for (const work of items) {
      isTaken = (await takeWork(from, keepsObjects ? kept(work) : work, stop.signal)) && isTaken
    }
    return isTaken
  } finally {
    stop.abort(new Error('the Works are taken'))
  }
}

function kept(work: Work): Work {
  return { ...work, spec: { ...work.spec, preserveResourcesOnDeletion: true } }
}

async function isGone(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask()
    return false
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return true
    throw error
  }
}

async function until(
  isDone: () => Promise<boolean>,
  { clock, random }: LeavingDeps,
  signal: AbortSignal,
  onWaiting: () => void,
): Promise<void> {
  const backoff = createBackoff(clusterAgentBounds.leaveFleet.look, random)
  for (let isFirst = true; !(await isDone()); isFirst = false) {
    if (isFirst) onWaiting()
    await clock.sleep(backoff.nextMs(), signal)
  }
}
