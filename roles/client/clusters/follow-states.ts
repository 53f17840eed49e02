import { createWakeFlag, runAll, type Clock, type Logger, type Random } from '@skerry/base'
import { createInformer, type ClusterClient } from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import type { ClusterState } from '@skerry/gateway'
import { readStates } from './cluster-states.ts'
import { askMs, clientBounds } from '../limits-table.ts'

const { gatherMs, lookMs } = clientBounds.followStates

interface FollowDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/**
 * Calls back with the states of all clusters, and then with those that have changed, until the signal aborts.
 * Bytes, round trips and ages do not count as changes: they come with the next one.
 */
export async function followStates(
  hub: ClusterClient,
  onStates: (states: readonly ClusterState[]) => Promise<void>,
  deps: FollowDeps,
  signal: AbortSignal,
): Promise<void> {
  const changed = createWakeFlag()
  const clusters = createInformer(hub.resource(clusterResource), {}, deps)
  using _listening = clusters.onChange(() => changed.raise())
  await runAll(signal, [
    (scope) => clusters.run(scope),
    async (scope) => {
      const shown = new Map<string, string>()
      for (;;) {
        const states = await readStates(hub, AbortSignal.any([scope, AbortSignal.timeout(askMs)]))
        const news = states.filter((state) => shown.get(state.name) !== keyOf(state))
        if (news.length > 0) await onStates(news)
        shown.clear()
        for (const state of states) shown.set(state.name, keyOf(state))
        using _look = deps.clock.setTimer(lookMs, () => changed.raise())
        await changed.wait(scope)
        await deps.clock.sleep(gatherMs, scope)
      }
    },
  ])
}

/** Returns the fields whose change matters to a person. */
function keyOf(state: ClusterState): string {
  const { ready, tunnel, since, kubernetesVersion, nodes, agents } = state
  const who = agents.map(({ agent, openedAt }) => [openedAt, agent?.host, agent?.version])
  return JSON.stringify([ready, tunnel, since, kubernetesVersion, nodes, who])
}
