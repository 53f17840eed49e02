import { keyOfObject, parseKey } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { edgeClusterResource, type EdgeCluster } from '../kind/edge-cluster.ts'
import {
  edgeJobClusterResource,
  edgeJobResource,
  type EdgeJob,
  type EdgeJobCluster,
  type EdgeJobClusterStatus,
} from '../kind/edge-job.ts'
import { pausedBy } from '../kind/pause.ts'
import { edgeJobBounds } from '../limits-table.ts'
import { Places } from './job-places.ts'
import { firstJobOn, isEnded, turnsOf } from './job-turns.ts'
import { runJob, writeJobCluster, type EdgeJobDeps, type JobScope } from './run-job.ts'

const { clustersAtOnceDefault, positionMs, turnMs, workers } = edgeJobBounds

/**
 * Does the work of EdgeJobs, one cluster at a key. All that it knows is in the object's status, so a hub that was
 * killed continues with the first step that is not done.
 */
export function edgeJobClusterController(deps: EdgeJobDeps): ControllerDefinition {
  const places = new Places()
  return {
    name: 'edge-job-cluster-controller',
    workers,
    watches: [
      watch(edgeJobClusterResource, { keysOf: ({ object }) => [keyOfObject(object)] }),
      watch(edgeJobResource, {
        // A status changes often and concerns nobody here.
        keysOf: ({ object, old }, context) =>
          old !== undefined && isSameOrder(old, object)
            ? []
            : clustersOfJob(object, context).map(keyOfObject),
      }),
      watch(edgeClusterResource, {
        keysOf: ({ object, old }, context) =>
          old?.metadata.generation === object.metadata.generation ? [] : jobsOn(object, context),
      }),
    ],
    reconcile: (key, context, signal) => reconcile(key, { ...deps, context, places }, signal),
  }
}

function isSameOrder(old: EdgeJob, job: EdgeJob): boolean {
  return old.metadata.generation === job.metadata.generation && pausedBy(old) === pausedBy(job)
}

function clustersOfJob({ metadata }: EdgeJob, context: ControllerContext): EdgeJobCluster[] {
  return context
    .informer(edgeJobClusterResource)
    .list(metadata.namespace)
    .filter(({ spec }) => spec.job === metadata.name)
}

function jobsOn({ metadata }: EdgeCluster, context: ControllerContext): string[] {
  return context
    .informer(edgeJobClusterResource)
    .list(metadata.namespace)
    .filter((own) => own.spec.edgeCluster === metadata.name && !isEnded(own))
    .map(keyOfObject)
}

async function reconcile(
  key: string,
  scope: JobScope,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const { context, places } = scope
  const { namespace = '' } = parseKey(key)
  const own = context.informer(edgeJobClusterResource).get(parseKey(key))
  const job = own && jobOf(own, context)
  if (own === undefined || job === undefined) return places.forget(key)
  if (own.metadata.deletionTimestamp !== undefined || isEnded(own)) return places.leave(job, key)
  const { edgeCluster } = own.spec
  const edge = context.informer(edgeClusterResource).get({ namespace, name: edgeCluster })
  if (edge === undefined || edge.metadata.deletionTimestamp !== undefined) {
    places.leave(job, key)
    const text =
      edge === undefined ? 'there is no such EdgeCluster' : 'the EdgeCluster is being deleted'
    return writeJobCluster(own, { ...ended(own), phase: 'Failed', message: text }, scope, signal)
  }
  const why = whyNotNow(own, job, scope)
  if (typeof why === 'number') return { requeueAfterMs: turnMs + why * positionMs }
  if (why !== undefined) {
    const waiting = { phase: own.status?.phase ?? ('Pending' as const), message: why }
    await writeJobCluster(own, waiting, scope, signal)
    return { requeueAfterMs: turnMs }
  }
  using claim = places.claim(`${namespace}/${edgeCluster}`, key)
  if (claim === undefined) return { requeueAfterMs: turnMs }
  return runJob({ own, job, edge }, scope, signal)
}

/** Returns the job of this object; undefined if another one of that name has taken its place. */
function jobOf(
  { metadata, spec }: EdgeJobCluster,
  context: ControllerContext,
): EdgeJob | undefined {
  const { namespace = '' } = metadata
  const job = context.informer(edgeJobResource).get({ namespace, name: spec.job })
  const isOurs = metadata.ownerReferences?.some(({ uid }) => uid === job?.metadata.uid) === true
  return isOurs && job?.metadata.deletionTimestamp === undefined ? job : undefined
}

/** Returns why nothing may be done on a cluster now: a number if so many others of its job are first. */
function whyNotNow(
  own: EdgeJobCluster,
  job: EdgeJob,
  { context, places }: JobScope,
): string | number | undefined {
  const all = context.informer(edgeJobClusterResource).list(own.metadata.namespace)
  const rivals = all.filter(({ spec }) => spec.edgeCluster === own.spec.edgeCluster)
  const first = firstJobOn(rivals, (each) => jobOf(each, context))
  if (first !== undefined && first.metadata.name !== own.metadata.name) {
    return `EdgeJob ${first.spec.job} changes this cluster first`
  }
  const siblings = all
    .filter(({ spec }) => spec.job === own.spec.job)
    .toSorted((a, b) => (a.spec.edgeCluster < b.spec.edgeCluster ? -1 : 1))
  const turns = turnsOf(siblings, {
    clustersAtOnce: job.spec.clustersAtOnce ?? clustersAtOnceDefault,
    isBusy: (each) => places.isClaimed(keyOfObject(each)),
  })
  const isNext = turns.some(({ metadata }) => metadata.name === own.metadata.name)
  return isNext ? undefined : siblings.filter((each) => !isEnded(each)).indexOf(own)
}

function ended({ spec, status }: EdgeJobCluster): EdgeJobClusterStatus {
  return { ...status, observedRetries: spec.retries ?? 0 }
}
