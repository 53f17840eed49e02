import { runAll, type Clock, type Logger, type Random, type Task } from '@skerry/base'
import { createEventSink, type ClusterClient, type EventSink } from '@skerry/client'
import {
  controllerTask,
  createInformerSet,
  type BackgroundController,
  type ControllerDefinition,
  type ControllerDeps,
  type InformerSet,
} from '@skerry/controller-runtime'
import { controllers } from './controllers-table.ts'

export interface RunControllersDeps {
  cluster: ClusterClient
  clock: Clock
  random: Random
  log: Logger
  /** Shared with other parts of the process, which then run it. If omitted, it is created and run here. */
  informers?: InformerSet
  /** The same for events. */
  events?: EventSink
  /** Controllers created with a configuration, which run in addition to the named ones. */
  configured?: readonly (ControllerDefinition | BackgroundController)[]
}

/** Returns the names that `all` stands for. */
function controllerNames(): readonly string[] {
  return Object.keys(controllers)
}

/**
 * Runs these controllers until the signal aborts. Controllers retry every outside failure, so one
 * that throws has a bug; it stops the others and its error is thrown. Throws RangeError for an
 * unknown name.
 */
export async function runControllers(
  names: 'all' | readonly string[],
  deps: RunControllersDeps,
  signal: AbortSignal,
): Promise<void> {
  const informers = deps.informers ?? createInformerSet(deps.cluster, deps)
  const events = deps.events ?? createEventSink(deps.cluster, deps)
  const shared: ControllerDeps = { ...deps, informers, events }
  const tasks: Task[] = (names === 'all' ? controllerNames() : names).map((name) =>
    controllerTask(namedController(name), shared),
  )
  tasks.push(...(deps.configured ?? []).map((controller) => controllerTask(controller, shared)))
  if (!deps.informers) tasks.push((scope) => informers.run(scope))
  if (!deps.events) tasks.push((scope) => events.run(scope))
  await runAll(signal, tasks)
}

function namedController(name: string): ControllerDefinition | BackgroundController {
  const controller = controllers[name]
  if (controller) return controller
  throw new RangeError(`Cannot run controller "${name}": there is none with this name`)
}
