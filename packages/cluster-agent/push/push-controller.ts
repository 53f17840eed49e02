import { asError, runAll } from '@skerry/base'
import {
  runController,
  watch,
  type BackgroundController,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import {
  clusterResource,
  conditionTypes,
  type Cluster,
  conditionOf,
  withCondition,
} from '@skerry/fleet-kinds'
import type { ResourceInterpreter } from '@skerry/interpreter'
import { writeFinalizers } from '@skerry/membership'
import type { ClusterReporterTiming } from '../report/cluster-reporter.ts'
import { RunningClusters } from '../running-clusters.ts'
import { isPushed } from './push-admission.ts'
import type { PushDeps } from './push-cluster.ts'
import type { PushPlan, PushPlans } from './push-target.ts'
import { clusterAgentBounds } from '../limits-table.ts'

/** A Cluster has it while the hub has objects of its own in the cluster. */
const pushFinalizer = 'hub.skerry.io/push'
const { lookAgainMs, missingMs } = clusterAgentBounds.pushController

/**
 * Writes to the API of each cluster in push mode, as an agent there would. Only one process may run it at a
 * time.
 */
export function createPushController(
  planOf: PushPlans,
  timing: Partial<ClusterReporterTiming> = {},
): BackgroundController {
  return {
    name: 'cluster-push-controller',
    async run(deps, signal) {
      const { cluster: hub, informers, clock, random, log } = deps
      const running = new RunningClusters()
      let asked: Promise<ResourceInterpreter> | undefined
      // Created on first use, so that a hub without pushed clusters watches nothing for it.
      const create = async (): Promise<ResourceInterpreter> => {
        const { interpreterOf } = await import('@skerry/interpreter')
        return interpreterOf({ hub, informers, clock, random, log }, signal)
      }
      const interpreter = (): Promise<ResourceInterpreter> => (asked ??= create())
      const parts = { hub, interpreter, timing, clock, random, log }
      await runAll(signal, [
        (scope) => running.run(scope),
        (scope) => runController(definition({ running, planOf, parts }), deps, scope),
      ])
    },
  }
}

interface Pushing {
  readonly running: RunningClusters
  readonly planOf: PushPlans
  readonly parts: PushDeps
}

function definition(pushing: Pushing): ControllerDefinition {
  const { running, planOf, parts } = pushing
  return {
    name: 'cluster-push-controller',
    watches: [watch(clusterResource, { keysOf: ({ object }) => [object.metadata.name ?? ''] })],
    async reconcile(name, context, signal) {
      const cluster = context.informer(clusterResource).get({ name })
      // A plan is read from the objects each time, and thousands of clusters pull.
      const plan = isPushed(cluster) ? planOf(name) : undefined
      const isLeft = cluster === undefined || cluster.metadata.deletionTimestamp !== undefined
      if (isLeft || plan === undefined) {
        await running.stop(name)
        if (cluster) await part({ cluster, plan }, parts, context, signal)
        return undefined
      }
      if ('refusal' in plan) {
        await running.stop(name)
        await tellRefusal(cluster, plan.refusal, context, signal)
        return { requeueAfterMs: missingMs }
      }
      await keepFinalizer(cluster, context, signal)
      const { target } = plan
      const { id } = cluster.spec
      await running.ensure(name, {
        version: JSON.stringify([cluster.metadata.uid, id, target]),
        // Imported with the first cluster in push mode: most hubs have none.
        async task(scope) {
          const { pushCluster } = await import('./push-cluster.ts')
          await pushCluster({ name, id, target }, parts, scope)
        },
      })
      return { requeueAfterMs: lookAgainMs }
    },
  }
}

interface Parting {
  readonly cluster: Cluster
  readonly plan: PushPlan | undefined
}

/**
 * Cleans up, best effort: a cluster that is gone, or that the hub may no longer dial, must not block its
 * removal.
 */
async function part(
  { cluster, plan }: Parting,
  { clock, log }: PushDeps,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', finalizers = [] } = cluster.metadata
  if (!finalizers.includes(pushFinalizer)) return
  try {
    if (plan && 'target' in plan) {
      const { target } = plan
      const { partFrom } = await import('./push-cluster.ts')
      await partFrom({ name, id: cluster.spec.id, target }, { clock, log }, signal)
    }
  } catch (error) {
    signal.throwIfAborted()
    const cause = asError(error)
    log.info('Cluster keeps the objects that the hub made there', { cluster: name, error: cause })
  }
  const rest = finalizers.filter((each) => each !== pushFinalizer)
  await writeFinalizers(cluster, rest, context, signal)
}

async function keepFinalizer(
  cluster: Cluster,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { finalizers = [] } = cluster.metadata
  if (finalizers.includes(pushFinalizer)) return
  await writeFinalizers(cluster, [...finalizers, pushFinalizer], context, signal)
}

async function tellRefusal(
  cluster: Cluster,
  refusal: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { conditions = [] } = cluster.status ?? {}
  const type = conditionTypes.ready
  const text = {
    type,
    status: 'False',
    reason: 'PushRefused',
    message: `The hub does not push to this cluster: ${refusal}`,
  } as const
  const known = conditionOf(conditions, type)
  if (known?.reason === text.reason && known.message === text.message) return
  const told = withCondition(conditions, text, context.clock.now())
  const status = { ...cluster.status, conditions: told }
  await context.client(clusterResource).updateStatus({ ...cluster, status }, signal)
}
