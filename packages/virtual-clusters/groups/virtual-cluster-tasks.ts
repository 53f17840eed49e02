import {
  createBackoff,
  createWakeFlag,
  logFailure,
  runAll,
  unlessAborted,
  type Clock,
  type Logger,
  type Random,
  type Task,
} from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import {
  runClusterReporter,
  type ClusterReporterTiming,
  type ReportedRound,
  type EdgeObserver,
  RoundGate,
  type MemberCluster,
  runWorks,
  takeWork,
  type WorkContext,
  type RunningClusters,
} from '@skerry/cluster-agent'
import {
  conditionTypes,
  conditionOf,
  virtualConditions,
  type VirtualCluster,
} from '@skerry/fleet-kinds'
import type { ResourceInterpreter } from '@skerry/interpreter'
import type { EdgeNames } from '../view/edge-names.ts'
import type { IdentityOf } from './child-hub.ts'
import { emptyNamespaceController } from './empty-namespace-controller.ts'
import { nodeLabelsOf, viewOf } from './group-state.ts'
import { retireVirtualCluster } from './retire-virtual-cluster.ts'
import type { VirtualClusterTasks } from './virtual-cluster-controller.ts'
import { virtualIdOf } from './virtual-id.ts'
import { VirtualNamespaces } from './virtual-namespaces.ts'
import { virtualClusterBounds } from '../limits-table.ts'

export interface VirtualClusterTasksDeps {
  readonly local: ClusterClient
  readonly observer: EdgeObserver
  readonly edge: EdgeNames
  readonly identityOf: IdentityOf
  readonly howToAllow: string
  /** Called once Works are to be applied, because only the control plane has the interpreter's rules. */
  readonly interpreter: () => Promise<ResourceInterpreter>
  /** Shared by all virtual clusters. */
  readonly member: MemberCluster
  readonly running: RunningClusters
  readonly timing?: Partial<ClusterReporterTiming> | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const { roundsAtOnceMax } = virtualClusterBounds.virtualClusterTasks

export function createVirtualClusterTasks(deps: VirtualClusterTasksDeps): VirtualClusterTasks {
  const gate = new RoundGate(roundsAtOnceMax)
  const rounds = new Map<string, ReportedRound>()
  const listeners = new Set<(clusterName: string) => void>()
  const onRound = (clusterName: string, round: ReportedRound): void => {
    const isNews = textOf(rounds.get(clusterName)) !== textOf(round)
    rounds.set(clusterName, round)
    if (isNews) for (const listener of listeners) listener(clusterName)
  }
  return {
    howToAllow: deps.howToAllow,
    ensure(clusterName, virtualCluster) {
      // Nodes of the group are found by their label, so the selector changes nothing here; node labels do,
      // because manifests may contradict them.
      const { nodeSelector: _selector, nodeNames: _names, ...spec } = virtualCluster.spec
      const version = JSON.stringify([spec, nodeLabelsOf(virtualCluster.spec)])
      return deps.running.ensure(clusterName, {
        version,
        task: taskOf(clusterName, virtualCluster, { ...deps, gate }, (round) =>
          onRound(clusterName, round),
        ),
      })
    },
    roundOf: (clusterName) => rounds.get(clusterName),
    onRound(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    async retire(clusterName, { spec, status }, signal) {
      await deps.running.stop(clusterName)
      rounds.delete(clusterName)
      const { hub, release } = deps.identityOf(clusterName)
      const { local, member, clock, log } = deps
      const registered = conditionOf(status?.conditions, virtualConditions.registered)
      // Namespaced objects are deleted with their namespaces, so neither the pattern nor the isolation is
      // needed; both may be invalid.
      const { namespaces: _pattern, isolation: _isolation, ...rest } = spec
      const { mapping } = viewOf(clusterName, { spec: rest })
      const waitsFor = await retireVirtualCluster(
        clusterName,
        {
          hub,
          local,
          clock,
          take: (work, scope) => takeWork({ clusterName, member, mapping }, work, scope),
          onKept: () => {
            if (registered?.status !== 'True') return
            log.error('Hub keeps a Cluster that has left: delete it there', {
              cluster: clusterName,
            })
          },
        },
        signal,
      )
      if (waitsFor === undefined) await release?.(signal)
      return waitsFor
    },
  }
}

/** Returns the part of a round that a VirtualCluster's status reports, as text to compare. */
function textOf(round: ReportedRound | undefined): string {
  const ready = conditionOf(round?.cluster?.status?.conditions, conditionTypes.ready)
  return JSON.stringify([
    round?.cluster !== undefined,
    ready?.status,
    ready?.message,
    round?.error?.message,
  ])
}

/** Runs one virtual cluster: its Cluster on the hub, its Works and its namespaces. */
function taskOf(
  clusterName: string,
  virtualCluster: VirtualCluster,
  deps: VirtualClusterTasksDeps & { readonly gate: RoundGate },
  onRound: (round: ReportedRound) => void,
): Task {
  const { local, edge, observer, member, identityOf, interpreter, timing } = deps
  const { clock, random, gate } = deps
  const log = deps.log.child({ virtualCluster: clusterName })
  const { spec } = virtualCluster
  const { group, mapping } = viewOf(clusterName, virtualCluster)
  const namespaces = new VirtualNamespaces(group, spec.isolation ?? {}, { local, edge })
  const parts = { ...identityOf(clusterName), clock, random, log }
  const works = {
    clusterName,
    mapping: namespaces.following(mapping),
    prepare: namespaces.prepare.bind(namespaces),
    controllers: (shared: WorkContext) => [emptyNamespaceController(shared, { local, edge })],
  }
  const reporting = {
    name: clusterName,
    idOf: (edgeId: string) => virtualIdOf(edgeId, clusterName),
    group: clusterName,
    place: placeOf(spec),
    labels: spec.labels ?? {},
    ...(timing ? { timing } : {}),
    onRound,
  }
  return (signal) =>
    runAll(signal, [
      (scope) => runClusterReporter(reporting, { ...parts, observer, gate }, scope),
      async (scope) =>
        runWorks(
          { ...works, interpreter: await unlessAborted(interpreter(), scope) },
          { ...parts, local, member },
          scope,
        ),
      (scope) => keepNamespaces(namespaces, deps, scope),
    ])
}

function placeOf({ provider, region, zones }: VirtualCluster['spec']) {
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(region === undefined ? {} : { region }),
    ...(zones === undefined ? {} : { zones }),
  }
}

/**
 * Keeps the namespaces of the virtual cluster. No Work brings `default`, which exists in any cluster; users
 * create others, too.
 */
async function keepNamespaces(
  namespaces: VirtualNamespaces,
  deps: VirtualClusterTasksDeps,
  signal: AbortSignal,
): Promise<void> {
  const isNew = createWakeFlag()
  using _listening = namespaces.onNew(() => isNew.raise())
  const keep = async (): Promise<void> => {
    await deps.edge.whenKnown(signal)
    await namespaces.ensure('default', signal)
    await namespaces.isolateAll(signal)
  }
  for (;;) {
    await untilDone(keep, deps, signal)
    await isNew.wait(signal)
  }
}

/** Retries with growing delays until it succeeds. */
export async function untilDone(
  work: () => Promise<void>,
  { clock, random, log }: Pick<VirtualClusterTasksDeps, 'clock' | 'random' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  const backoff = createBackoff(virtualClusterBounds.virtualClusterTasks.retry, random)
  for (;;) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      const message = 'Edge cluster is not prepared yet'
      logFailure(log, { subject: 'Preparation of an edge cluster', message, error })
      await clock.sleep(backoff.nextMs(), signal)
    }
  }
}
