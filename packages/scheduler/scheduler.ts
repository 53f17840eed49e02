import { createWakeFlag, runAll, type Clock, type Logger, type Random } from '@skerry/base'
import { createEventSeriesSink, type ClusterClient } from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import { ClusterState } from './cluster-state.ts'
import { defaultConfiguration, type SchedulerConfiguration } from './configuration.ts'
import { placePod, type PlacingDeps } from './place-pod.ts'
import { helpJudge } from './profile-judge.ts'
import { SchedulingQueue } from './scheduling-queue.ts'
import { watchCluster } from './watch-cluster.ts'
import { schedulerBounds } from './limits-table.ts'

export interface SchedulerDeps {
  cluster: ClusterClient
  informers: InformerSet
  /** The machine's name, for events. */
  host: string
  clock: Clock
  random: Random
  log: Logger
  /** If omitted, there is one profile, as upstream's. */
  configuration?: SchedulerConfiguration
}

const { bindingsMax } = schedulerBounds.scheduler

/** Places pods until the signal aborts. The caller runs the informer set. */
export async function runScheduler(deps: SchedulerDeps, signal: AbortSignal): Promise<void> {
  const configuration = deps.configuration ?? defaultConfiguration
  const profiles = new Map(configuration.profiles.map((each) => [each.schedulerName, each]))
  const state = new ClusterState()
  const ready = createWakeFlag()
  using queue = new SchedulingQueue({
    clock: deps.clock,
    onReady: ready.raise,
    helps: helpJudge(profiles),
    backoffInitialMs: configuration.backoffInitialMs,
    backoffMaxMs: configuration.backoffMaxMs,
  })
  const isOurName = (name: string): boolean => profiles.has(name)
  using _watched = watchCluster({ informers: deps.informers, state, queue, isOurName })
  await deps.informers.whenSynced(signal)
  const rotation = { firstNode: 0 }
  const events = createEventSeriesSink(deps.cluster, deps)
  const placing = new Map(
    configuration.profiles.map((profile): [string, PlacingDeps] => {
      const source = { controller: profile.schedulerName, host: deps.host }
      const recorder = events.recorder(source)
      const { extenders } = configuration
      const own = { state, queue, profile, extenders, recorder, rotation }
      return [profile.schedulerName, { ...deps, ...own }]
    }),
  )
  const isSlow = configuration.extenders.length > 0
  await runAll(signal, [
    (scope) => events.run(scope),
    (scope) => placeAll({ queue, ready, placing, isSlow }, scope),
  ])
}

interface PlacingLoop {
  queue: SchedulingQueue
  ready: { wait(signal: AbortSignal): Promise<void> }
  /** The placing dependencies by schedulerName. */
  placing: ReadonlyMap<string, PlacingDeps>
  /** True if decisions wait for extenders: the next one is not made before the previous. */
  isSlow: boolean
}

async function placeAll(
  { queue, ready, placing, isSlow }: PlacingLoop,
  signal: AbortSignal,
): Promise<void> {
  const bindings = new Set<Promise<void>>()
  for (;;) {
    const next = queue.take()
    if (next === undefined) {
      await ready.wait(signal)
      continue
    }
    const deps = placing.get(next.pod.spec?.schedulerName ?? '')
    if (deps === undefined) continue
    const decided = Promise.withResolvers<void>()
    const placed = placePod({ ...deps, onDecided: decided.resolve }, next.pod, signal)
    bindings.add(placed)
    void placed.finally(() => bindings.delete(placed))
    if (isSlow) await Promise.race([decided.promise, placed])
    if (bindings.size >= bindingsMax) await Promise.race(bindings)
    else await Promise.resolve()
  }
}
