import {
  createWakeFlag,
  runAll,
  unlessAborted,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import type { Pod } from '@skerry/api'
import type { ClusterClient } from '@skerry/client'
import type { Nft } from '../nftables/nft.ts'
import type { NftTable } from '../nftables/nft-table.ts'
import type { StateFile } from '../network/state-file.ts'
import { followPolicies } from './follow-policies.ts'
import { createKernelTable } from './kernel-table.ts'
import { LocalPeers } from './local-peers.ts'
import { peerOf } from './pod-peer.ts'
import { isSelected, planPolicies, type PolicyWorld } from './policy-plan.ts'
import { saveChanges } from './policy-snapshot.ts'
import { buildPolicyTable } from './policy-table.ts'
import { serviceProxyBounds } from '../limits-table.ts'

export interface NetworkPolicyDeps {
  cluster: ClusterClient
  nft: Nft
  snapshot: StateFile<PolicyWorld>
  clock: Clock
  random: Random
  log: Logger
}

/** Enforces the cluster's NetworkPolicies for one node's pods; the node reports their addresses. */
export interface NetworkPolicies {
  placed(pod: Pod, address: string): void
  /** Nothing of the pod runs any more, and its address may be another pod's. */
  gone(pod: Pod): void
  /**
   * Resolves when the kernel has the policies of the pod that was placed. While the node knows no
   * policies at all, from neither the API nor its disk, it waits for a limited time after `run`
   * began (10 s).
   */
  whenKept(pod: Pod, signal: AbortSignal): Promise<void>
  /**
   * Runs until the signal aborts. The rules stay then, and while the control plane is away; until
   * something is known, from the API or the snapshot, they stay as they were.
   */
  run(signal: AbortSignal): Promise<void>
}

const { settleMs, firstWordMs, checkMs } = serviceProxyBounds.networkPolicies

export function createNetworkPolicies(nodeName: string, deps: NetworkPolicyDeps): NetworkPolicies {
  const { clock, log } = deps
  const local = new LocalPeers(nodeName)
  const dirty = createWakeFlag()
  const unsaved = createWakeFlag()
  const known = Promise.withResolvers<void>()
  let ofApi: (() => PolicyWorld) | undefined
  let nextRound = Promise.withResolvers<void>()

  const changed = (): void => {
    dirty.raise()
    unsaved.raise()
  }
  const onWorld = (world: () => PolicyWorld): void => {
    ofApi = world
    known.resolve()
    changed()
  }
  const worldNow = (): PolicyWorld | undefined => {
    const world = ofApi?.()
    return world && { ...world, pods: local.over(world.pods) }
  }

  const keep = async (signal: AbortSignal): Promise<void> => {
    const kernel = createKernelTable(deps)
    await unlessAborted(known.promise, signal)
    for (;;) {
      using _timer = clock.setTimer(checkMs, dirty.raise)
      await dirty.wait(signal)
      await clock.sleep(settleMs, signal)
      // The wait for the first state was given up, so the rules of an earlier run stay.
      if (!ofApi) continue
      const round = nextRound
      nextRound = Promise.withResolvers()
      await kernel.replace(() => tableOf(worldNow(), nodeName), signal)
      round.resolve()
    }
  }

  return {
    placed(pod, address) {
      if (local.place(pod, address)) changed()
    },
    gone(pod) {
      if (local.remove(pod)) changed()
    },
    async whenKept(pod, signal) {
      await unlessAborted(known.promise, signal)
      const policies = ofApi?.().policies ?? []
      if (!isSelected(policies, peerOf(pod))) return
      dirty.raise()
      await unlessAborted(nextRound.promise, signal)
    },
    async run(signal) {
      const saved = await deps.snapshot.load()
      if (saved) onWorld(() => saved)
      await runAll(signal, [
        (scope) => followPolicies(deps, onWorld, scope),
        keep,
        (scope) => saveChanges({ worldNow, unsaved }, deps, scope),
        async (scope) => {
          await clock.sleep(firstWordMs, scope)
          if (!ofApi) log.info('No network policies known yet, pods start without')
          known.resolve()
        },
      ])
    },
  }
}

function tableOf(world: PolicyWorld | undefined, nodeName: string): NftTable | undefined {
  return world && buildPolicyTable(planPolicies(world, nodeName))
}
