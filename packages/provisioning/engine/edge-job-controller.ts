import { isStatusError } from '@skerry/api'
import { ifThere, keyOfObject, parseKey } from '@skerry/client'
import {
  controllerReference,
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { apiTime } from '@skerry/fleet-kinds'
import { edgeClusterResource, type EdgeCluster } from '../kind/edge-cluster.ts'
import {
  edgeJobAsks,
  edgeJobClusterName,
  edgeJobClusterResource,
  edgeJobLabel,
  edgeJobResource,
  type EdgeJob,
  type EdgeJobCluster,
  type EdgeJobStatus,
} from '../kind/edge-job.ts'
import { targetsOf } from '../kind/job-targets.ts'
import { pausedBy } from '../kind/pause.ts'
import { edgeJobBounds } from '../limits-table.ts'
import { ifSame } from './if-same.ts'
import { failuresOf, hasFailed, jobPhaseOf, summariesOf, totalsOf } from './job-phases.ts'
import { isEnded } from './job-turns.ts'
import { clustersOf } from './plan-job.ts'
import { removeAnnotations } from './remove-annotations.ts'

const { clustersMax, namesMax, namesShown, summaryDelayMs } = edgeJobBounds

/** Plans EdgeJobs: an object for each of their clusters, what people ask for, and the sum of what has become of them. */
export function edgeJobController(): ControllerDefinition {
  return {
    name: 'edge-job-controller',
    watches: [
      watch(edgeJobResource, { keysOf: ({ object }) => [keyOfObject(object)] }),
      watch(edgeJobClusterResource, {
        keysOf: ({ object }) => [`${object.metadata.namespace}/${object.spec.job}`],
        delayMs: summaryDelayMs,
      }),
    ],
    reconcile,
  }
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const job = context.informer(edgeJobResource).get(parseKey(key))
  if (job === undefined || job.metadata.deletionTimestamp !== undefined) return
  const known = clustersOfJob(job, context)
  // A selector counts at the beginning: clusters that come later belong to the next job.
  if (job.status?.startTime === undefined) {
    const why = await plan(job, known, context, signal)
    if (why !== undefined) return writeStatus(job, refused(job, why, context), context, signal)
    return writeStatus(
      job,
      { startTime: apiTime(context.clock.now()), phase: 'Pending' },
      context,
      signal,
    )
  }
  if (known.length > 0) await answer(job, known, context, signal)
  await writeStatus(job, statusOf(job, clustersOfJob(job, context), context), context, signal)
}

function clustersOfJob({ metadata }: EdgeJob, context: ControllerContext): EdgeJobCluster[] {
  return context
    .informer(edgeJobClusterResource)
    .list(metadata.namespace)
    .filter(({ metadata: { ownerReferences = [] } }) =>
      ownerReferences.some(({ uid }) => uid === metadata.uid),
    )
    .toSorted((a, b) => (a.spec.edgeCluster < b.spec.edgeCluster ? -1 : 1))
}

/** Makes the object of each cluster. Returns why the job cannot begin, or undefined. */
async function plan(
  job: EdgeJob,
  known: readonly EdgeJobCluster[],
  context: ControllerContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { namespace = '', name = '' } = job.metadata
  const edges = context.informer(edgeClusterResource).list(namespace)
  const wanted = clustersOf(job.spec, edges)
  if (wanted.length === 0) return 'it selects no EdgeCluster'
  if (wanted.length > clustersMax) {
    return `it selects ${wanted.length} EdgeClusters: at most ${clustersMax} can be changed by one job`
  }
  const nobody = whyNoMachine(job, wanted, edges)
  if (nobody !== undefined) return nobody
  const client = context.client(edgeJobClusterResource)
  for (const edgeCluster of wanted) {
    if (known.some(({ spec }) => spec.edgeCluster === edgeCluster)) continue
    const metadata = {
      namespace,
      name: edgeJobClusterName(name, edgeCluster),
      labels: { [edgeJobLabel]: name },
      ownerReferences: [controllerReference(job)],
    }
    const { apiVersion } = job
    const made = { apiVersion, kind: 'EdgeJobCluster', metadata, spec: { job: name, edgeCluster } }
    try {
      await client.create(made, signal)
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
      const there = await ifThere(client.get(made.metadata, signal))
      const isOurs = there?.metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid)
      // The object of a former job of this name goes with its owner; then there is room.
      if (isOurs !== true) throw error
    }
  }
  return undefined
}

/** A job that is about no machine would be Completed at once, though its author has misspelled an address. */
function whyNoMachine(
  { spec }: EdgeJob,
  wanted: readonly string[],
  edges: readonly EdgeCluster[],
): string | undefined {
  const found = edges.filter(({ metadata }) => wanted.includes(metadata.name ?? ''))
  // A cluster that is not there fails by itself, and is named then.
  if (found.length < wanted.length) return undefined
  const targets = new Set(
    found.flatMap((edge) => targetsOf(edge, spec).map(({ address }) => address)),
  )
  const missing = (spec.machines?.addresses ?? []).filter((address) => !targets.has(address))
  if (missing.length > 0) {
    const names = missing.slice(0, namesShown).join(', ')
    const clusters = wanted.length === 1 ? wanted[0] : `its ${wanted.length} EdgeClusters`
    return `spec.machines.addresses names ${names}, and the job selects no such machine of ${clusters}`
  }
  return targets.size === 0 ? 'it selects no machine' : undefined
}

function refused(
  { metadata }: EdgeJob,
  message: string,
  { clock }: ControllerContext,
): EdgeJobStatus {
  const now = apiTime(clock.now())
  const observedGeneration = metadata.generation ?? 0
  return { phase: 'Failed', observedGeneration, message, startTime: now, finishTime: now }
}

/** Hands what people ask for on to the clusters; their own part of it is done there. */
async function answer(
  job: EdgeJob,
  clusters: readonly EdgeJobCluster[],
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { annotations = {} } = job.metadata
  const keys = Object.values(edgeJobAsks).filter((key) => annotations[key] !== undefined)
  if (keys.length === 0) return
  const retry = listOf(annotations[edgeJobAsks.retry])
  const confirm = listOf(annotations[edgeJobAsks.confirm])
  const isCancelled = annotations[edgeJobAsks.cancel] !== undefined
  for (const own of clusters) {
    const spec: Partial<EdgeJobCluster['spec']> = {}
    if (isCancelled && !isEnded(own)) spec.cancelled = true
    if (retry.length > 0 && own.status?.phase !== 'Completed') {
      spec.retries = (own.spec.retries ?? 0) + 1
      spec.retryMachines = machinesNamed(own, retry)
      spec.cancelled = false
    }
    const confirmed = machinesNamed(own, confirm)
    if (confirmed.length > 0) {
      spec.confirmed = [...new Set([...(own.spec.confirmed ?? []), ...confirmed])].slice(
        0,
        namesMax,
      )
    }
    if (Object.keys(spec).length === 0) continue
    const { namespace = '', name = '' } = own.metadata
    const patch = { namespace, name, type: 'merge' as const, patch: { spec } }
    await ifThere(context.client(edgeJobClusterResource).patch(patch, signal))
  }
  await removeAnnotations(edgeJobResource, job, { keys, context }, signal)
}

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .slice(0, namesMax)
}

/** Returns the machines of a cluster that texts such as `branch-7` and `branch-7/10.0.0.12` name. */
function machinesNamed({ spec }: EdgeJobCluster, texts: readonly string[]): string[] {
  if (texts.includes('*') || texts.includes(spec.edgeCluster)) return ['*']
  const prefix = `${spec.edgeCluster}/`
  return texts.flatMap((text) => (text.startsWith(prefix) ? [text.slice(prefix.length)] : []))
}

function statusOf(
  job: EdgeJob,
  clusters: readonly EdgeJobCluster[],
  context: ControllerContext,
): EdgeJobStatus {
  const { clock } = context
  const { namespace = '', generation = 0 } = job.metadata
  if (clusters.length === 0) return job.status ?? {}
  const edges = context.informer(edgeClusterResource)
  const totals = totalsOf(clusters, (name) => {
    const edge = edges.get({ namespace, name })
    return edge === undefined ? 0 : targetsOf(edge, job.spec).length
  })
  const phase = jobPhaseOf(clusters, totals, job)
  const isOver = ['Completed', 'Failed', 'Cancelled'].includes(phase)
  const finishTime = isOver ? (job.status?.finishTime ?? apiTime(clock.now())) : undefined
  return {
    phase,
    observedGeneration: generation,
    startTime: job.status?.startTime ?? apiTime(clock.now()),
    ...(finishTime === undefined ? {} : { finishTime }),
    message: messageOf(totals, clusters, isOver ? undefined : pausedBy(job)),
    totals,
    clusters: summariesOf(clusters),
    failures: failuresOf(clusters),
  }
}

function messageOf(
  totals: NonNullable<EdgeJobStatus['totals']>,
  clusters: readonly EdgeJobCluster[],
  by: string | undefined,
): string {
  const parts = [
    [totals.done, 'done'],
    [totals.running, 'running'],
    [totals.waiting, 'waiting for a confirmation'],
    [totals.pending, 'pending'],
    [totals.failed, 'failed'],
    [totals.rolledBack, 'rolled back'],
  ] as const
  const counts = parts.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`)
  const told = clusters.find(({ status }) =>
    (status?.machines ?? []).some(({ phase }) => hasFailed(phase)),
  )
  const failed = told ?? clusters.find(({ status }) => status?.phase === 'Failed')
  const why = failed?.status?.message
  return [
    ...(by === undefined ? [] : [`paused by ${by}`]),
    counts.join(', '),
    ...(why === undefined ? [] : [`${failed?.spec.edgeCluster}: ${why}`]),
  ].join('; ')
}

async function writeStatus(
  { metadata, status: before }: EdgeJob,
  status: EdgeJobStatus,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = metadata
  // A merge keeps fields that it does not name.
  const gone = before?.finishTime !== undefined && status.finishTime === undefined
  const patch = { metadata: { uid }, status: { ...status, ...(gone ? { finishTime: null } : {}) } }
  const client = context.client(edgeJobResource)
  await ifSame(client.patchStatus({ namespace, name, type: 'merge', patch }, signal))
}
