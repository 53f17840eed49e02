import {
  abortReason,
  createBackoff,
  createWakeFlag,
  runAll,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import type { Namespace, NetworkPolicy } from '@skerry/api'
import { createInformer, resources, type Cluster, type Informer } from '@skerry/client'
import type { Nft } from '../nft.ts'
import { renderDelta, renderTable, type NftTable } from '../nft-table.ts'
import { podPeers, type PodPeer } from './pod-peer.ts'
import { planPolicies, type PolicyWorld } from './policy-plan.ts'
import { buildPolicyTable, renderNoPolicies } from './policy-table.ts'

export interface NetworkPolicyDeps {
  cluster: Cluster
  nft: Nft
  clock: Clock
  random: Random
  log: Logger
}

/** A burst of changes (a rollout) becomes one transaction. */
const settleMs = 50

/**
 * Keeps the cluster's NetworkPolicies for this node's pods until the signal aborts. The rules stay
 * then, and while the control plane is away; nothing is touched before everything is known. Pods
 * and namespaces are watched from the first policy on.
 */
export async function runNetworkPolicies(
  nodeName: string,
  deps: NetworkPolicyDeps,
  signal: AbortSignal,
): Promise<void> {
  const policies = createInformer<NetworkPolicy>(
    deps.cluster.resource(resources.networkPolicies),
    {},
    deps,
  )
  const namespaces = createInformer<Namespace>(
    deps.cluster.resource(resources.namespaces),
    {},
    deps,
  )
  const pods = createInformer<PodPeer>(deps.cluster.resource(podPeers), {}, deps)
  await runAll(signal, [
    (scope) => policies.run(scope),
    async (scope) => {
      await policies.whenSynced(scope)
      await untilSome(policies, deps, scope)
      await runAll(scope, [
        (inner) => namespaces.run(inner),
        (inner) => pods.run(inner),
        async (inner) => {
          await Promise.all([namespaces.whenSynced(inner), pods.whenSynced(inner)])
          const dirty = createWakeFlag()
          const listening = [policies, namespaces, pods].map((each) => each.onChange(dirty.raise))
          using stack = new DisposableStack()
          for (const each of listening) stack.use(each)
          const world = (): PolicyWorld => ({
            policies: policies.list(),
            namespaces: namespaces.list(),
            pods: pods.list(),
          })
          await keep({ nodeName, world, dirty }, deps, inner)
        },
      ])
    },
  ])
}

/** Rules that an earlier run left behind go when there is no policy any more. */
async function untilSome(
  policies: Informer<NetworkPolicy>,
  deps: NetworkPolicyDeps,
  signal: AbortSignal,
): Promise<void> {
  const dirty = createWakeFlag()
  using _listening = policies.onChange(dirty.raise)
  if (policies.list().length > 0) return
  await applyUntilDone(() => deps.nft.apply(renderNoPolicies(), signal), deps, signal)
  while (policies.list().length === 0) await dirty.wait(signal)
}

async function keep(
  following: {
    nodeName: string
    world: () => PolicyWorld
    dirty: ReturnType<typeof createWakeFlag>
  },
  deps: NetworkPolicyDeps,
  signal: AbortSignal,
): Promise<void> {
  let applied: { table: NftTable | undefined } | undefined
  following.dirty.raise()
  for (;;) {
    await following.dirty.wait(signal)
    await deps.clock.sleep(settleMs, signal)
    const applyOnce = async (): Promise<void> => {
      const next = buildPolicyTable(planPolicies(following.world(), following.nodeName))
      const script = scriptFrom(applied, next)
      // Should it fail half-known, the next try replaces the whole table.
      applied = undefined
      if (script !== '') await deps.nft.apply(script, signal)
      applied = { table: next }
    }
    await applyUntilDone(applyOnce, deps, signal)
  }
}

function scriptFrom(
  applied: { table: NftTable | undefined } | undefined,
  next: NftTable | undefined,
): string {
  if (next === undefined) return applied !== undefined && !applied.table ? '' : renderNoPolicies()
  return applied?.table === undefined ? renderTable(next) : renderDelta(applied.table, next)
}

async function applyUntilDone(
  apply: () => Promise<void>,
  { clock, log, random }: NetworkPolicyDeps,
  signal: AbortSignal,
): Promise<void> {
  const backoff = createBackoff({ initialMs: 200, maxMs: 30_000 }, random)
  for (;;) {
    try {
      await apply()
      return
    } catch (error) {
      if (signal.aborted) throw abortReason(signal)
      log.error('Network policies not applied, the last ones stay', {
        error: error instanceof Error ? error : null,
      })
      await clock.sleep(backoff.nextMs(), signal)
    }
  }
}
