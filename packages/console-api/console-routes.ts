import type { Authorizer, LoadedServer, Objects, Route } from '@skerry/apiserver'
import { runAll, type Clock, type Logger, type Random, type Task } from '@skerry/base'
import { clusterResource } from '@skerry/fleet-kinds'
import { auditRoute, type AuditRouteDeps } from './audit/audit-route.ts'
import { FleetBoard, type ClusterLink } from './fleet/fleet-board.ts'
import { fleetPath, fleetRoute } from './fleet/fleet-route.ts'
import { VisibleClusters } from './fleet/visible-clusters.ts'
import { historyRoute } from './history/history-route.ts'
import { TunnelHistory, type TunnelSample } from './history/tunnel-history.ts'
import { searchPath, searchRoute } from './search/search-route.ts'
import { watchesPath, watchesRoute } from './watches/watches-route.ts'

export interface ConsoleRoutesDeps {
  readonly server: Pick<LoadedServer, 'answer'>
  readonly objects: Objects
  readonly linkOf: (cluster: string) => ClusterLink
  readonly sample: (cluster: string) => TunnelSample
  readonly audit: Pick<AuditRouteDeps, 'file' | 'replica'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Everything that the pages read beyond the hub's ordinary API. */
export interface ConsoleRoutes {
  readonly routes: readonly Route[]
  readonly authorizer: Authorizer
  /** Keeps the rows of the fleet while anybody reads them, and the history of tunnels. */
  readonly run: Task
}

export function createConsoleRoutes(deps: ConsoleRoutesDeps): ConsoleRoutes {
  const board = new FleetBoard(deps)
  const visible = new VisibleClusters(board, deps.clock)
  const { objects, sample, clock } = deps
  const clusters = () =>
    objects.list(clusterResource).map(({ metadata: { name = '', uid = '' } }) => ({ name, uid }))
  const history = new TunnelHistory({ clusters, sample, clock })
  return {
    routes: [
      fleetRoute({ board, visible, clock }),
      auditRoute({ ...deps.audit, clock }),
      historyRoute({ objects, history }),
      searchRoute({ server: deps.server, board, visible, clock }),
      watchesRoute(deps),
    ],
    authorizer,
    run: (signal) => runAll(signal, [(scope) => board.run(scope), (scope) => history.run(scope)]),
  }
}

const paths: ReadonlySet<string> = new Set([fleetPath, searchPath, watchesPath])

/** Allows every authenticated user: each answer has what its user may see. */
const authorizer: Authorizer = Object.freeze<Authorizer>({
  async authorize({ user, isResourceRequest, path, verb }) {
    const isAsked = !isResourceRequest && verb === 'get' && paths.has(path)
    const isKnown = user.groups.includes('system:authenticated')
    return { verdict: isAsked && isKnown ? 'allow' : 'no-opinion', reason: '' }
  },
})
