import { StatusError, type Lease } from '@skerry/api'
import type { ApiAnswer, Authorizer, Objects, Route, UserInfo } from '@skerry/apiserver'
import { clusterNamespace, clusterResource, type Cluster, parentOf } from '@skerry/fleet-kinds'
import { clusterState, type ClusterState, type ClusterStates } from '../state/cluster-state.ts'
import type { TunnelsReport } from '../state/tunnel-report.ts'
import { allowedClusterVerbs } from './reachable-clusters.ts'
import { gatewayBounds } from '../limits-table.ts'

export const clusterStatesPath = '/hub/v1/cluster-states'

export interface ClusterStatesDeps {
  readonly objects: Objects
  /** Describes these clusters' tunnels, on whichever replica they end. */
  readonly describe: (
    clusters: readonly string[],
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<string, TunnelsReport>>
}

const { clustersPerTurn } = gatewayBounds.clusterStatesRoute

/**
 * Serves `/hub/v1/cluster-states` and `…/<name>`: the states of the clusters that the user may reach or whose
 * tunnels they may get. Other users get the same answer for an existing and a missing cluster.
 */
export function clusterStatesRoute(deps: ClusterStatesDeps): Route {
  return {
    prefix: clusterStatesPath,
    matches: ({ path }) => path === clusterStatesPath || isOfOne(path),
    async serve({ user, authorizer, info, signal }) {
      if (info.method !== 'GET' && info.method !== 'HEAD') {
        throw new StatusError('MethodNotAllowed', 'the server does not allow this method here')
      }
      const name = info.path.slice(clusterStatesPath.length + 1)
      if (name !== '') {
        return answerOf(info.method, await oneState(name, { user, authorizer, signal }, deps))
      }
      const clusters = await allStates({ user, authorizer, signal }, deps)
      return answerOf(info.method, { clusters } satisfies ClusterStates)
    },
  }
}

/** Further paths of a cluster belong to other routes. */
function isOfOne(path: string): boolean {
  const prefix = `${clusterStatesPath}/`
  return path.startsWith(prefix) && !path.includes('/', prefix.length)
}

interface Asker {
  readonly user: UserInfo
  readonly authorizer: Authorizer
  readonly signal: AbortSignal
}

async function oneState(
  name: string,
  asker: Asker,
  deps: ClusterStatesDeps,
): Promise<ClusterState> {
  const { group, resource } = clusterResource
  const details = { name, group, kind: resource }
  if (!(await maySeeCluster(name, asker))) {
    const text = `${resource}.${group} "${name}" is forbidden: User "${asker.user.name}" may neither reach it nor get clusters/tunnel of it`
    throw new StatusError('Forbidden', text, { details })
  }
  const [state] = await statesOf([name], asker.signal, deps)
  if (state) return state
  throw new StatusError('NotFound', `${resource}.${group} "${name}" not found`, { details })
}

async function allStates(asker: Asker, deps: ClusterStatesDeps): Promise<ClusterState[]> {
  const names: string[] = []
  for (const [at, { metadata }] of deps.objects.list(clusterResource).entries()) {
    if (at % clustersPerTurn === clustersPerTurn - 1) await nextTurn()
    const { name = '' } = metadata
    if (await maySeeCluster(name, asker)) names.push(name)
  }
  return statesOf(names, asker.signal, deps)
}

/** Returns the states of those clusters that are registered. */
async function statesOf(
  names: readonly string[],
  signal: AbortSignal,
  deps: ClusterStatesDeps,
): Promise<ClusterState[]> {
  const { objects } = deps
  const parents = new Map(
    names.flatMap((name): [string, string][] => {
      const object = objects.get(clusterResource, '', name)
      const parent = object && parentOf(object)
      return parent === undefined ? [] : [[name, parent]]
    }),
  )
  const asked = new Set(names.map((name) => parents.get(name) ?? name))
  const reports = await deps.describe([...asked], signal)
  return names.flatMap((name) => {
    const object = objects.get(clusterResource, '', name)
    const parent = parents.get(name)
    const report = parent === undefined ? reports.get(name) : reportOfParent(reports.get(parent))
    if (object === undefined || report === undefined) return []
    // The registry keeps only what was decoded as these kinds.
    const cluster = object as unknown as Cluster
    const lease = objects.get(leases, clusterNamespace, name) as unknown as Lease | undefined
    const state = clusterState({ cluster, lease, report })
    return [parent === undefined ? state : { ...state, through: parent }]
  })
}

/**
 * Keeps only whether the parent is connected: a virtual cluster is reachable if its parent is, but the
 * parent's agents and traffic are not its own.
 */
function reportOfParent(report: TunnelsReport | undefined): TunnelsReport | undefined {
  return report && { ...report, tunnels: [] }
}

const leases = Object.freeze({ group: 'coordination.k8s.io', resource: 'leases' })

/** Reports whether a user may reach the cluster with any verb, or may get its tunnels. */
export async function maySeeCluster(
  name: string,
  { user, authorizer }: Pick<Asker, 'user' | 'authorizer'>,
): Promise<boolean> {
  const { verdict } = await authorizer.authorize({
    user,
    verb: 'get',
    isResourceRequest: true,
    resource: clusterResource,
    subresource: 'tunnel',
    name,
    namespace: '',
    path: '',
  })
  if (verdict === 'allow') return true
  return (await allowedClusterVerbs(user, name, authorizer)).length > 0
}

function answerOf(method: string, value: object): ApiAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(method === 'HEAD' ? '' : `${JSON.stringify(value)}\n`),
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
