import type { TargetCluster } from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'
import { assignReplicas } from './assign-replicas.ts'
import { candidatesOf, type Candidate } from './candidate.ts'
import { filterClusters } from './filter-clusters.ts'
import {
  PlacementError,
  whileDoing,
  type ClusterDiagnosis,
  type PlacementInput,
  type PlacementResult,
} from './placement-input.ts'
import { selectClusters } from './select-clusters.ts'

/**
 * Decides which clusters an object goes to, and with how many replicas, as Karmada's scheduler does: filters,
 * scores, spread constraints, division of replicas. From several affinities it takes the first that works,
 * starting with the one in force. Pure: where upstream's order is random, it uses that of the input, or of
 * names.
 */
export function placeBinding(input: PlacementInput): PlacementResult {
  const terms = input.spec.placement?.clusterAffinities
  if (terms === undefined) return resultOf(placeByTerm(input, undefined), [])
  const names = terms.map(({ affinityName }) => affinityName)
  const observed = names.indexOf(input.status?.schedulerObservingAffinityName ?? '')
  const failed: Attempt[] = []
  for (const name of names.slice(Math.max(0, observed))) {
    const attempt = placeByTerm(input, name)
    if (attempt.error === undefined) return resultOf(attempt, failed)
    failed.push(attempt)
  }
  // All terms failed; the result is the first one's.
  const [first = noTerm] = failed
  return resultOf({ ...first, affinityName: undefined }, failed)
}

export const placedMessage = 'Binding has been scheduled successfully.'

/** One attempt to place, which ended with clusters or with an error. */
interface Attempt {
  readonly affinityName: string | undefined
  readonly clusters: readonly TargetCluster[]
  readonly diagnosis: readonly ClusterDiagnosis[]
  readonly error?: PlacementError
}

const noTerm: Attempt = Object.freeze({
  affinityName: undefined,
  clusters: [],
  diagnosis: [],
  error: new PlacementError('NoClusterFit', noneFits([], 0)),
})

function placeByTerm(input: PlacementInput, affinityName: string | undefined): Attempt {
  const { fitting, diagnosis } = filterClusters(input, affinityName)
  try {
    if (fitting.length === 0) {
      throw new PlacementError('NoClusterFit', noneFits(diagnosis, input.clusters.length))
    }
    return { affinityName, clusters: placeOn(fitting, input, affinityName), diagnosis }
  } catch (error) {
    if (!(error instanceof PlacementError)) throw error
    return { affinityName, clusters: [], diagnosis, error }
  }
}

function placeOn(
  fitting: readonly Cluster[],
  input: PlacementInput,
  affinityName: string | undefined,
): TargetCluster[] {
  const { spec } = input
  const all = candidatesOf(fitting, spec, affinityName)
  const candidates = whileDoing('failed to select clusters', () => selectClusters(all, spec))
  const assigned = whileDoing('failed to assign replicas', () =>
    assignReplicas({ candidates, spec, affinityName, isFresh: isRescheduled(input) }),
  )
  return input.placesEmptyWorkloads ? withEmpty(assigned, candidates) : assigned
}

/** Reports whether a new placement was requested since the last one. */
export function isRescheduled({ spec, status }: Pick<PlacementInput, 'spec' | 'status'>): boolean {
  const { rescheduleTriggeredAt: asked } = spec
  const last = status?.lastScheduledTime
  return asked !== undefined && last !== undefined && Date.parse(asked) > Date.parse(last)
}

function withEmpty(
  assigned: readonly TargetCluster[],
  candidates: readonly Candidate[],
): TargetCluster[] {
  const rest = candidates.filter(({ name }) => !assigned.some((target) => target.name === name))
  return [...assigned, ...rest.map(({ name }) => ({ name, replicas: 0 }))]
}

/** Formats `0/3 clusters are available: 2 cluster(s) did not have the API resource.` */
function noneFits(diagnosis: readonly ClusterDiagnosis[], count: number): string {
  const counts = new Map<string, number>()
  for (const { reasons } of diagnosis) {
    const [reason = ''] = reasons
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  const parts = [...counts].map(([reason, times]) => `${times} ${reason}`).toSorted()
  const why = parts.length === 0 ? 'no cluster exists' : parts.join(', ')
  return `0/${count} clusters are available: ${why}.`
}

function resultOf(attempt: Attempt, failed: readonly Attempt[]): PlacementResult {
  const { affinityName, clusters, diagnosis, error } = attempt
  const failures = failed.map((each) => each.error?.message ?? '')
  const named = affinityName === undefined ? {} : { affinityName }
  if (error === undefined) {
    return { reason: 'Success', message: placedMessage, clusters, ...named, failures, diagnosis }
  }
  const { reason, message } = error
  const left = reason === 'NoClusterFit' ? [] : undefined
  return { reason, message, clusters: left, failures, diagnosis }
}
