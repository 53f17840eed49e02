import type { Authorizer, LoadedServer, Objects, Route } from '@skerry/apiserver'
import type { Clock, Logger, Random, Task } from '@skerry/base'
import { FleetBoard, type ClusterLink } from './fleet/fleet-board.ts'
import { fleetPath, fleetRoute } from './fleet/fleet-route.ts'
import { VisibleClusters } from './fleet/visible-clusters.ts'
import { watchesPath, watchesRoute } from './watches/watches-route.ts'

export interface ConsoleRoutesDeps {
  readonly server: Pick<LoadedServer, 'answer'>
  readonly objects: Objects
  readonly linkOf: (cluster: string) => ClusterLink
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Everything that the pages read beyond the hub's ordinary API. */
export interface ConsoleRoutes {
  readonly routes: readonly Route[]
  readonly authorizer: Authorizer
  /** Keeps the rows of the fleet while anybody reads them. */
  readonly run: Task
}

export function createConsoleRoutes(deps: ConsoleRoutesDeps): ConsoleRoutes {
  const board = new FleetBoard(deps)
  const visible = new VisibleClusters(board, deps.clock)
  return {
    routes: [fleetRoute({ board, visible, clock: deps.clock }), watchesRoute(deps)],
    authorizer,
    run: (signal) => board.run(signal),
  }
}

const paths: ReadonlySet<string> = new Set([fleetPath, watchesPath])

/** Allows every authenticated user: each answer has what its user may see. */
const authorizer: Authorizer = Object.freeze<Authorizer>({
  async authorize({ user, isResourceRequest, path, verb }) {
    const isAsked = !isResourceRequest && verb === 'get' && paths.has(path)
    const isKnown = user.groups.includes('system:authenticated')
    return { verdict: isAsked && isKnown ? 'allow' : 'no-opinion', reason: '' }
  },
})
