import { asError } from '@skerry/base'
import { resources } from '@skerry/client'
import type { BackgroundController, ControllerDeps } from '@skerry/controller-runtime'
import type { SitePart } from '../contract/site-part.ts'
import type { Units } from './units.ts'

export interface EdgeAppsOptions {
  /** The systems whose kinds are served. If omitted, none. */
  systems?: readonly string[] | undefined
  /** True: units may become clusters of their own. Default: false. */
  handsUnitsOver?: boolean | undefined
}

/** Marks the definitions that edge applications have made. */
const definedHere = 'edge.skerry.io/edge-apps=true'

/** Serves the kinds of other systems for applications in groups of nodes. Their code is imported only if they are asked for. */
export function edgeApps({ systems = [] }: EdgeAppsOptions, units: Units | undefined): SitePart {
  return {
    controllers: ({ context }) => {
      const controller: BackgroundController = {
        name: 'edge-apps',
        run: async (deps, signal) => {
          if (systems.length === 0) return takeAway(deps, signal)
          const { runEdgeApps } = await import('@skerry/edge-apps')
          const unitActs = units?.acts(context)
          // Nodes ask the master whose controllers act.
          using _lead = await unitActs?.lead()
          await runEdgeApps(systems, { ...deps, unitActs }, signal)
        },
      }
      return [controller]
    },
  }
}

/** Takes away what an earlier start with the option has defined. */
async function takeAway(deps: ControllerDeps, signal: AbortSignal): Promise<void> {
  try {
    const client = deps.cluster.resource(resources.customResourceDefinitions)
    const { items } = await client.list({ labelSelector: definedHere }, signal)
    if (items.length === 0) return
    const { removeEdgeApps } = await import('@skerry/edge-apps')
    await removeEdgeApps(deps, signal)
  } catch (error) {
    signal.throwIfAborted()
    deps.log.info('Kinds of edge applications stay until the next start', { error: asError(error) })
  }
}
