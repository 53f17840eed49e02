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

export interface RunControllersDeps {
  cluster: ClusterClient
  clock: Clock
  random: Random
  log: Logger
  /** Shared with other parts of the process, which then run it. If omitted, it is created and run here. */
  informers?: InformerSet
  /** The same for events. */
  events?: EventSink
}

/**
 * Runs these controllers until the signal aborts. Controllers retry every outside failure, so one
 * that throws has a bug; it stops the others and its error is thrown.
 */
export async function runControllers(
  controllers: readonly (ControllerDefinition | BackgroundController)[],
  deps: RunControllersDeps,
  signal: AbortSignal,
): Promise<void> {
  const informers = deps.informers ?? createInformerSet(deps.cluster, deps)
  const events = deps.events ?? createEventSink(deps.cluster, deps)
  const shared: ControllerDeps = { ...deps, informers, events }
  const tasks: Task[] = controllers.map((controller) => controllerTask(controller, shared))
  if (!deps.informers) tasks.push((scope) => informers.run(scope))
  if (!deps.events) tasks.push((scope) => events.run(scope))
  await runAll(signal, tasks)
}
