import { apiServerLimits, YamlReader } from '@skerry/apiserver'
import type { Clock, Logger, Random } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import type { TunnelHandler } from '@skerry/tunnel'
import type { MemberNamespaceOf } from '@skerry/cluster-agent'
import type { ImpersonationPolicy } from '@skerry/membership'
import { AnswerRoom } from './answer-room.ts'
import { memberOf, noNamespace } from './asked-view.ts'
import { ownAsk } from './edge-calls.ts'
import { createEdgeKinds } from './edge-kinds.ts'
import { createEdgeNames, type EdgeNames } from './edge-names.ts'
import { createPageTokens } from './page-token.ts'
import { noCluster, withVirtualViews, type ViewedCluster } from './view-handler.ts'

export interface VirtualViewsOptions {
  /** The edge cluster, with the agent's own rights. */
  readonly local: ClusterClient
  /** The users whom the agent may impersonate. If omitted, everybody whom the hub names. */
  readonly policy?: ImpersonationPolicy
  /** Finds virtual clusters in addition to those that are set. */
  readonly find?: (clusterName: string) => ViewedCluster | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** The native APIs of the virtual clusters that an agent answers for. */
export interface VirtualViews {
  /** Reports the owners of the edge's namespaces and nodes. */
  readonly edge: EdgeNames
  /** Answers for this virtual cluster from now on, or changes its rules. */
  set(cluster: ViewedCluster): void
  delete(clusterName: string): void
  /** Answers for virtual clusters; requests for the edge cluster itself go on to `api`. */
  handler(api: TunnelHandler): TunnelHandler
  /** Returns the edge's name of a virtual cluster's namespace, in which its services are. */
  readonly memberNamespaceOf: MemberNamespaceOf
  /** Follows the edge's namespaces and nodes until the signal aborts; rejects with its reason. */
  run(signal: AbortSignal): Promise<void>
}

export function createVirtualViews(options: VirtualViewsOptions): VirtualViews {
  const { local, policy, clock, random, log } = options
  const clusters = new Map<string, ViewedCluster>()
  const edge = createEdgeNames({ local, clock, random, log })
  const kinds = createEdgeKinds(local, clock)
  const pages = createPageTokens()
  const room = new AnswerRoom()
  const yaml = new YamlReader({ limits: apiServerLimits, clock, log })
  const find = (name: string): ViewedCluster | undefined =>
    clusters.get(name) ?? options.find?.(name)
  return {
    edge,
    async memberNamespaceOf({ cluster, namespace }, signal) {
      const found = find(cluster)
      if (found === undefined) throw noCluster(cluster)
      await edge.whenKnown(signal)
      const member = memberOf(found, namespace)
      const owner = await edge.findOwner(member, signal)
      if (owner?.cluster !== cluster) throw noNamespace(namespace)
      return member
    },
    set: (cluster) => void clusters.set(cluster.group.clusterName, cluster),
    delete: (name) => void clusters.delete(name),
    handler: (api) =>
      withVirtualViews(api, {
        find,
        edge,
        kinds,
        pages,
        room,
        yaml,
        asAgent: ownAsk(local),
        ...(policy ? { policy } : {}),
        log,
      }),
    run: (signal) => edge.run(signal),
  }
}
