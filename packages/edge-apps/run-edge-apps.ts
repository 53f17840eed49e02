import { runAll } from '@skerry/base'
import { controllerTask, type ControllerDeps } from '@skerry/controller-runtime'
import { installDefinitions } from './definitions/install-definitions.ts'
import { edgeSystems } from './edge-systems-table.ts'
import type { UnitActs } from './levels/unit-acts.ts'

interface EdgeAppsDeps extends ControllerDeps {
  /** If omitted, a unit stays with this cluster, and its status says so. */
  readonly unitActs?: UnitActs | undefined
}

/**
 * Defines the kinds of these systems and runs their controllers until the signal aborts. Throws a RangeError for an
 * unknown system.
 */
export async function runEdgeApps(
  systems: readonly string[],
  deps: EdgeAppsDeps,
  signal: AbortSignal,
): Promise<void> {
  const chosen = [...new Set(systems)].map((name) => {
    const system = edgeSystems[name]
    if (system) return system
    throw new RangeError(`Cannot run edge applications of "${name}": known are ${known()}`)
  })
  const kinds = chosen.flatMap((system) => system.kinds)
  await installDefinitions(kinds, deps, signal)
  deps.log.info('Edge applications are served', { systems: systems.join(',') })
  const controllers = chosen.flatMap((system) => system.controllers(deps.unitActs))
  await runAll(
    signal,
    controllers.map((each) => controllerTask(each, deps)),
  )
}

function known(): string {
  return Object.keys(edgeSystems).join(', ')
}
