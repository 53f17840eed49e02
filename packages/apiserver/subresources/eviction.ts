import {
  StatusError,
  isStatusError,
  labelSelectorOf,
  type DeleteOptions,
  type Eviction,
  type Pod,
  type PodDisruptionBudget,
} from '@skerry/api'
import type { Clock } from '@skerry/base'
import type { Objects } from '../contract/objects.ts'
import { apiTime, notFound, createdStatus } from '../contract/status-answers.ts'
import type { SubresourceHandler, SubresourceRequest } from '../contract/subresource.ts'
import { getTyped, listTyped, typed } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { setPodCondition } from './pod-conditions.ts'
import { apiServerBounds } from '../limits-table.ts'

const { triesMax, disruptedPodsMax } = apiServerBounds.eviction

/** Serves pods/eviction: a delete that asks the pod's disruption budget first. */
export function createEvictionHandler(clock: Clock): SubresourceHandler {
  return {
    async serve(request) {
      const { object, name } = request
      if (!object) throw new StatusError('BadRequest', 'an Eviction is required')
      await request.admit(object)
      if (object.metadata.name !== undefined && object.metadata.name !== name) {
        throw new StatusError('BadRequest', 'name in URL does not match name in Eviction object')
      }
      const options = typed<Eviction>(object).deleteOptions ?? {}
      await request.admitValid(object)
      const isDryRun = request.isDryRun || Boolean(options.dryRun?.length)
      await evict(request, { options, isDryRun }, clock)
      return { type: 'object', status: 201, object: createdStatus }
    },
  }
}

interface EvictOptions {
  readonly options: DeleteOptions
  readonly isDryRun: boolean
}

async function evict(
  request: SubresourceRequest,
  { options, isDryRun }: EvictOptions,
  clock: Clock,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const pod = findPod(request)
    const verdict = judge(pod, budgetsOf(pod, request.objects))
    if (verdict.type === 'refuse') throw verdict.error
    if (verdict.type === 'spend')
      await spend(pod, verdict.budget, { objects: request.objects, isDryRun, clock })
    // A decision from the pod's state is valid only for that state.
    const resourceVersion = verdict.type === 'free' ? verdict.resourceVersion : undefined
    try {
      return await remove(pod, request.objects, {
        options: withVersion(options, resourceVersion),
        isDryRun,
        clock,
      })
    } catch (error) {
      const mayRetry = isStatusError(error, 'Conflict') && !options.preconditions?.resourceVersion
      if (!mayRetry || verdict.type === 'spend' || attempt >= triesMax) throw error
    }
  }
}

function findPod({ objects, namespace, name }: SubresourceRequest): Pod {
  const pod = getTyped<Pod>(objects, wellKnown.pods, { namespace, name })
  if (!pod) throw notFound(wellKnown.pods, name)
  return pod
}

function budgetsOf(pod: Pod, objects: Objects): PodDisruptionBudget[] {
  const { namespace = '', labels } = pod.metadata
  const budgets = listTyped<PodDisruptionBudget>(objects, wellKnown.podDisruptionBudgets, namespace)
  return budgets.filter(({ spec }) => selects(spec?.selector, labels))
}

function selects(
  selector: Parameters<typeof labelSelectorOf>[0],
  labels: Record<string, string> | undefined,
): boolean {
  try {
    return labelSelectorOf(selector).matches(labels)
  } catch (error) {
    // A budget whose selector is malformed guards nothing.
    if (isStatusError(error, 'BadRequest')) return false
    throw error
  }
}

type EvictionVerdict =
  /** No budget is spent. With a version, the pod must not have changed. */
  | { readonly type: 'free'; readonly resourceVersion?: string }
  | { readonly type: 'spend'; readonly budget: PodDisruptionBudget }
  | { readonly type: 'refuse'; readonly error: StatusError }

/** Decides about an eviction. A pure function. */
function judge(pod: Pod, budgets: readonly PodDisruptionBudget[]): EvictionVerdict {
  const { resourceVersion = '', deletionTimestamp } = pod.metadata
  const phase = pod.status?.phase ?? 'Pending'
  // Such a pod is not running, so its removal disrupts nothing.
  if (phase === 'Succeeded' || phase === 'Failed' || deletionTimestamp) return { type: 'free' }
  if (phase === 'Pending') return { type: 'free', resourceVersion }
  const [budget, ...more] = budgets
  if (!budget) return { type: 'free' }
  if (more.length > 0) {
    const message =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
    return { type: 'refuse', error: new StatusError('Unknown', message) }
  }
  if (!isReady(pod) && mayEvictUnready(budget)) return { type: 'free', resourceVersion }
  const error = budgetProblem(budget)
  return error ? { type: 'refuse', error } : { type: 'spend', budget }
}

function isReady({ status }: Pod): boolean {
  return (status?.conditions ?? []).some(
    (condition) => condition.type === 'Ready' && condition.status === 'True',
  )
}

function mayEvictUnready({ spec, status }: PodDisruptionBudget): boolean {
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {}
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy
}

function budgetProblem({ metadata, status }: PodDisruptionBudget): StatusError | undefined {
  const name = metadata.name ?? ''
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    const why = `The disruption budget ${name} is still being processed by the server.`
    return tooManyRequests(why, 10)
  }
  const allowed = status?.disruptionsAllowed ?? 0
  if (allowed < 0) return forbiddenBudget(name, 'pdb disruptions allowed is negative')
  if (Object.keys(status?.disruptedPods ?? {}).length > disruptedPodsMax) {
    return forbiddenBudget(
      name,
      'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    )
  }
  return allowed === 0 ? tooManyRequests(exhausted(name, status), 0) : undefined
}

function exhausted(name: string, status: PodDisruptionBudget['status']): string {
  const { currentHealthy = 0, desiredHealthy = 0, conditions = [] } = status ?? {}
  const condition = conditions.find(({ type }) => type === 'DisruptionAllowed')
  const isFalse = condition?.status === 'False' && condition.message !== ''
  if (isFalse && condition.reason === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${condition.message}`
  }
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  }
  if (isFalse) {
    return `The disruption budget ${name} does not allow evicting pods currently (${condition.reason}): ${condition.message}`
  }
  return `The disruption budget ${name} does not allow evicting pods currently`
}

function tooManyRequests(why: string, retryAfterSeconds: number): StatusError {
  const message = "Cannot evict pod as it would violate the pod's disruption budget."
  return new StatusError('TooManyRequests', message, {
    details: {
      causes: [{ reason: 'DisruptionBudget', message: why }],
      ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
    },
  })
}

function forbiddenBudget(name: string, why: string): StatusError {
  const message = `poddisruptionbudget.policy ${JSON.stringify(name)} is forbidden: ${why}`
  return new StatusError('Forbidden', message, {
    details: { name, group: 'policy', kind: 'poddisruptionbudget' },
  })
}

interface Act {
  readonly objects: Objects
  readonly isDryRun: boolean
  readonly clock: Clock
}

/** Takes one disruption from the budget; another eviction may have taken the last one meanwhile. */
async function spend(pod: Pod, budget: PodDisruptionBudget, act: Act): Promise<void> {
  if (act.isDryRun) return
  const { namespace = '', name = '' } = budget.metadata
  const key = { namespace, name, subresource: 'status' }
  await act.objects.update(wellKnown.podDisruptionBudgets, key, (object) => {
    const current = typed<PodDisruptionBudget>(object)
    const problem = budgetProblem(current)
    if (problem) throw problem
    if (!current.status) return false
    current.status.disruptionsAllowed = (current.status.disruptionsAllowed ?? 0) - 1
    current.status.disruptedPods = {
      ...current.status.disruptedPods,
      [pod.metadata.name ?? '']: apiTime(act.clock.now()),
    }
    return true
  })
}

async function remove(
  pod: Pod,
  objects: Objects,
  act: { options: DeleteOptions; isDryRun: boolean; clock: Clock },
): Promise<void> {
  if (act.isDryRun) return
  const { namespace = '', name = '' } = pod.metadata
  const marked = await objects.update(
    wellKnown.pods,
    { namespace, name, subresource: 'eviction' },
    (object) => {
      checkPreconditions(typed<Pod>(object), act.options)
      const current = typed<Pod>(object)
      current.status ??= {}
      setPodCondition(current.status, disruptionTarget, act.clock.now())
    },
  )
  const version = act.options.preconditions?.resourceVersion && marked.metadata.resourceVersion
  await objects.delete(
    wellKnown.pods,
    namespace,
    name,
    withVersion(act.options, version || undefined),
  )
}

const disruptionTarget = Object.freeze({
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
} as const)

function checkPreconditions({ metadata }: Pod, { preconditions }: DeleteOptions): void {
  const { uid, resourceVersion } = preconditions ?? {}
  const why =
    uid && uid !== metadata.uid
      ? `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`
      : resourceVersion && resourceVersion !== metadata.resourceVersion
        ? `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`
        : undefined
  if (why === undefined) return
  const name = metadata.name ?? ''
  throw new StatusError(
    'Conflict',
    `Operation cannot be fulfilled on Pod ${JSON.stringify(name)}: ${why}`,
    {
      details: { name, kind: 'Pod' },
    },
  )
}

function withVersion(options: DeleteOptions, resourceVersion: string | undefined): DeleteOptions {
  if (!resourceVersion) return options
  return { ...options, preconditions: { ...options.preconditions, resourceVersion } }
}
