import { StatusError, type Labels } from '@skerry/api'
import type { Authorizer, Objects, Route, UserInfo } from '@skerry/apiserver'
import { clusterResource, conditionTypes, type Cluster, clusterVerbs } from '@skerry/fleet-kinds'
import { gatewayBounds } from '../limits-table.ts'

export const reachableClustersPath = '/hub/v1/clusters'

/** The answer to GET of that path: the user, and the clusters that they may reach. */
export interface ReachableClusters {
  readonly user: { readonly username: string; readonly groups: readonly string[] }
  /** The domain under which each cluster has its own host name. If omitted, clusters have no host names. */
  readonly clusterDomain?: string
  readonly clusters: readonly ReachableCluster[]
}

export interface ReachableCluster {
  readonly name: string
  /** The verbs with which the hub lets this user through. The cluster itself decides about their rights there. */
  readonly verbs: readonly string[]
  readonly labels: Labels
  /** True if its tunnel is open, or it is in push mode and ready. */
  readonly connected: boolean
}

export interface ReachableClustersDeps {
  readonly objects: Objects
  readonly clusterDomain?: string | undefined
}

const { clustersPerTurn } = gatewayBounds.reachableClusters

/** Serves the list of only those clusters that the user may reach, so it reveals no others. */
export function reachableClustersRoute({ objects, clusterDomain }: ReachableClustersDeps): Route {
  return {
    prefix: reachableClustersPath,
    matches: ({ path }) => path === reachableClustersPath,
    async serve({ user, authorizer, info }) {
      if (info.method !== 'GET' && info.method !== 'HEAD') {
        throw new StatusError('MethodNotAllowed', 'the server does not allow this method here')
      }
      const clusters: ReachableCluster[] = []
      for (const [at, object] of objects.list(clusterResource).entries()) {
        if (at % clustersPerTurn === clustersPerTurn - 1) await nextTurn()
        // The registry keeps only what was decoded as this kind.
        const cluster = object as unknown as Cluster
        const verbs = await allowedClusterVerbs(user, cluster.metadata.name ?? '', authorizer)
        if (verbs.length > 0) clusters.push(shown(cluster, verbs))
      }
      const answer: ReachableClusters = {
        user: { username: user.name, groups: user.groups },
        ...(clusterDomain === undefined ? {} : { clusterDomain }),
        clusters,
      }
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(info.method === 'HEAD' ? '' : `${JSON.stringify(answer)}\n`),
      }
    },
  }
}

/**
 * Returns those of `clusterVerbs` with which the hub lets this user through to the cluster. An empty list
 * means no access.
 */
export async function allowedClusterVerbs(
  user: UserInfo,
  name: string,
  authorizer: Authorizer,
): Promise<string[]> {
  const verbs: string[] = []
  for (const verb of clusterVerbs) {
    const { verdict } = await authorizer.authorize({
      user,
      verb,
      isResourceRequest: true,
      resource: clusterResource,
      subresource: 'proxy',
      name,
      namespace: '',
      path: '',
    })
    if (verdict === 'allow') verbs.push(verb)
  }
  return verbs
}

function shown({ metadata, spec, status }: Cluster, verbs: string[]): ReachableCluster {
  // Push mode has no tunnel: there the hub itself checks whether the cluster is ready.
  const telling = spec.syncMode === 'Push' ? conditionTypes.ready : conditionTypes.connected
  const connected = status?.conditions?.find(({ type }) => type === telling)
  return {
    name: metadata.name ?? '',
    verbs,
    labels: metadata.labels ?? {},
    connected: connected?.status === 'True',
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
