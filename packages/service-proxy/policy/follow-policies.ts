import { isDeepStrictEqual } from 'node:util'
import { createWakeFlag, runAll, type Clock, type Logger, type Random } from '@skerry/base'
import type { Namespace, NetworkPolicy } from '@skerry/api'
import { createInformer, resources, type ClusterClient, type Informer } from '@skerry/client'
import { podPeers, type PodPeer } from './pod-peer.ts'
import type { PolicyWorld } from './policy-plan.ts'

export interface FollowDeps {
  cluster: ClusterClient
  clock: Clock
  random: Random
  log: Logger
}

const nothing: PolicyWorld = Object.freeze({ policies: [], namespaces: [], pods: [] })

/**
 * Reports every change that affects policies, once everything is known, until the signal aborts.
 * Pods and namespaces are watched only once there is a policy.
 */
export async function followPolicies(
  deps: FollowDeps,
  onWorld: (world: () => PolicyWorld) => void,
  signal: AbortSignal,
): Promise<void> {
  const { cluster } = deps
  const policies = createInformer<NetworkPolicy>(
    cluster.resource(resources.networkPolicies),
    {},
    deps,
  )
  const namespaces = createInformer<Namespace>(
    cluster.resource(resources.namespaces),
    { transform: labelled },
    deps,
  )
  const pods = createInformer<PodPeer>(cluster.resource(podPeers), {}, deps)
  await runAll(signal, [
    (scope) => policies.run(scope),
    async (scope) => {
      await policies.whenSynced(scope)
      if (policies.list().length === 0) onWorld(() => nothing)
      await untilSome(policies, scope)
      await runAll(scope, [
        (inner) => namespaces.run(inner),
        (inner) => pods.run(inner),
        async (inner) => {
          await Promise.all([namespaces.whenSynced(inner), pods.whenSynced(inner)])
          const tell = (): void =>
            onWorld(() => ({
              policies: policies.list(),
              namespaces: namespaces.list(),
              pods: pods.list(),
            }))
          tell()
          for (const each of [policies, namespaces]) each.onChange(tell)
          pods.onChange(({ old, object }) => {
            if (old === undefined || !meansTheSame(old, object)) tell()
          })
        },
      ])
    },
  ])
}

async function untilSome(policies: Informer<NetworkPolicy>, signal: AbortSignal): Promise<void> {
  const dirty = createWakeFlag()
  using _listening = policies.onChange(dirty.raise)
  while (policies.list().length === 0) await dirty.wait(signal)
}

/** Most changes of a pod are changes of its status that do not concern policies. */
function meansTheSame(old: PodPeer, next: PodPeer): boolean {
  const essence = ({ metadata: { uid, labels }, nodeName, address, ports }: PodPeer) => ({
    uid,
    labels,
    nodeName,
    address,
    ports,
  })
  return isDeepStrictEqual(essence(old), essence(next))
}

function labelled({ apiVersion, kind, metadata }: Namespace): Namespace {
  const { name, uid, labels, resourceVersion } = metadata
  return { apiVersion, kind, metadata: { name, uid, labels, resourceVersion } }
}
