import { messageOf } from '@skerry/base'
import { isStatusError, type AnyObject } from '@skerry/api'
import { keyOfObject, parseKey } from '@skerry/client'
import {
  dropFinalizer,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { conditionOf, withCondition, type ConditionText } from '@skerry/fleet-kinds'
import {
  executionFinalizer,
  manifestsOf,
  workConditions,
  type ManifestStatus,
  type Work,
} from '@skerry/karmada-kinds'
import { AppliedVersions } from './applied-versions.ts'
import { planManifest, type ManifestPlan } from './plan-manifest.ts'
import { planShared } from './plan-shared.ts'
import { contentOf, isPresent } from './shared-object.ts'
import { leavesToSites } from './site-owned.ts'
import { takeWork } from './take-work.ts'
import {
  clusterOf,
  isReady,
  placesOf,
  watchMember,
  watchReadiness,
  type WorkContext,
} from './work-context.ts'
import { manifestStatuses } from './work-status-controller.ts'
import { clusterAgentBounds } from '../limits-table.ts'

const { goneCheckMs, retryMsMax, eventCharsMax } = clusterAgentBounds.executionController
const failedReason = 'AppliedFailed'

/** Keeps the cluster's objects as their Works define them, even when somebody at the cluster changes them. */
export function executionController(shared: WorkContext): ControllerDefinition {
  const execution = new Execution(shared)
  return {
    name: 'execution-controller',
    watches: [
      watch(shared.works, {
        keysOf: ({ type, object, old }) =>
          type !== 'deleted' && isToExecute(object, old) ? [keyOfObject(object)] : [],
      }),
      watchMember(shared),
      watchReadiness(shared),
    ],
    queue: { maxDelayMs: retryMsMax },
    reconcile: (key, context, signal) => execution.reconcile(key, context, signal),
  }
}

/** A status that was written, by this controller for one, asks for nothing. */
function isToExecute({ metadata }: Work, old: Work | undefined): boolean {
  return (
    metadata.generation !== old?.metadata.generation ||
    metadata.deletionTimestamp !== old?.metadata.deletionTimestamp
  )
}

class Execution {
  readonly #shared: WorkContext
  readonly #applied = new AppliedVersions()

  constructor(shared: WorkContext) {
    this.#shared = shared
  }

  async reconcile(
    key: string,
    context: ControllerContext,
    signal: AbortSignal,
  ): Promise<ReconcileResult | void> {
    const work = context.informer(this.#shared.works).get(parseKey(key))
    if (work === undefined) return
    if (work.metadata.deletionTimestamp) return this.#remove(work, context, signal)
    const conditions = await this.#tellDispatching(work, context, signal)
    if (work.spec.suspendDispatching === true) return
    this.#expectReady(context)
    const failures: string[] = []
    for (const manifest of manifestsOf(work)) {
      try {
        await this.#apply(work, manifest, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (isStatusError(error, 'Conflict')) throw error
        failures.push(messageOf(error))
      }
    }
    const told: Work = { ...work, status: { ...work.status, conditions } }
    const text = appliedText(work, failures)
    const statuses = this.#isNew(work, text) ? await this.#statuses(work, signal) : undefined
    await this.#tell(told, { text, statuses }, context, signal)
    if (failures.length > 0) {
      throw new Error(`Cannot apply Work "${key}": ${failures.join('; ')}`)
    }
  }

  #isNew({ status }: Work, { observedGeneration }: ConditionText): boolean {
    const known = conditionOf(status?.conditions, workConditions.applied)
    return known?.observedGeneration !== observedGeneration
  }

  /**
   * Returns the statuses to report together with the applied version, so that nobody takes the health of the
   * previous version for that of the new one. If they cannot be read, the status controller will report why.
   */
  async #statuses(work: Work, signal: AbortSignal): Promise<ManifestStatus[] | undefined> {
    try {
      return await manifestStatuses(work, this.#shared, signal)
    } catch {
      signal.throwIfAborted()
      return undefined
    }
  }

  #expectReady(context: ControllerContext): void {
    if (isReady(clusterOf(this.#shared, context))) return
    throw new Error(`cluster(${this.#shared.clusterName}) not ready`)
  }

  async #apply(work: Work, manifest: AnyObject, signal: AbortSignal): Promise<void> {
    const { member, mapping, prepare } = this.#shared
    const desired = mapping.toMember(manifest)
    let observed = await this.#meet(desired, await member.observe(desired, signal), signal)
    if (observed && this.#applied.isCurrent(work, desired, observed)) return
    let plan = await this.#plan(desired, observed, signal)
    if (plan.act === 'update' && leavesToSites(desired)) {
      // The cached object lacks managedFields, so it is read again.
      observed = await this.#meet(desired, await member.read(desired, signal), signal)
      plan = await this.#plan(desired, observed, signal)
    }
    if (plan.act === 'create' || plan.act === 'update') await prepare?.(desired, signal)
    if (plan.act === 'create') {
      try {
        const made = await member.create(plan.object, signal)
        return this.#applied.onApplied(work, desired, made)
      } catch (error) {
        if (!isStatusError(error, 'AlreadyExists')) throw error
        observed = await this.#meet(desired, await member.read(desired, signal), signal)
        plan = await this.#plan(desired, observed, signal)
      }
    }
    if (plan.act === 'refuse') throw new Error(plan.why)
    if (plan.act === 'update') observed = await member.update(plan.object, signal)
    if (observed) this.#applied.onApplied(work, desired, observed)
  }

  async #plan(
    desired: AnyObject,
    observed: AnyObject | undefined,
    signal: AbortSignal,
  ): Promise<ManifestPlan> {
    const isShared = contentOf(desired) !== ''
    if (isShared && observed && isPresent(desired, observed)) return { act: 'keep' }
    const { clusterName: cluster, interpreter } = this.#shared
    return planManifest({ cluster, desired, observed, interpreter }, signal)
  }

  /** Notes what this virtual cluster wants of a shared object. Rejects if others want something else. */
  async #meet(
    desired: AnyObject,
    observed: AnyObject | undefined,
    signal: AbortSignal,
  ): Promise<AnyObject | undefined> {
    const { clusterName: cluster, member } = this.#shared
    const plan = planShared({ cluster, desired, observed })
    if (plan.note) {
      const noted = await member.mergePatch(desired, plan.note, signal)
      // The others' wishes may have changed meanwhile; this one's is now noted.
      return this.#meet(desired, noted, signal)
    }
    if (plan.act === 'refuse') throw new Error(plan.why)
    return observed
  }

  async #remove(
    work: Work,
    context: ControllerContext,
    signal: AbortSignal,
  ): Promise<ReconcileResult | void> {
    if (!work.metadata.finalizers?.includes(executionFinalizer)) return
    const cluster = clusterOf(this.#shared, context)
    const isLeaving = cluster.metadata.deletionTimestamp !== undefined
    if (!isReady(cluster) && !isLeaving) this.#expectReady(context)
    if (isReady(cluster)) {
      for (const place of placesOf(this.#shared, work)) this.#applied.forget(place)
      const isGone = await takeWork(this.#shared, work, signal)
      if (!isGone && !isLeaving) return { requeueAfterMs: goneCheckMs }
    }
    const resource = this.#shared.works
    await dropFinalizer({ object: work, resource, finalizer: executionFinalizer }, context, signal)
  }

  async #tellDispatching(work: Work, context: ControllerContext, signal: AbortSignal) {
    const isSuspended = work.spec.suspendDispatching === true
    const text = {
      type: workConditions.dispatching,
      status: isSuspended ? 'False' : 'True',
      reason: isSuspended ? 'SuspendDispatching' : 'Dispatching',
      message: isSuspended
        ? 'Work dispatching is in a suspended state.'
        : 'Work is being dispatched to member clusters.',
    } as const
    return this.#tell(work, { text }, context, signal)
  }

  /** Only this controller writes conditions; the status controller writes the rest of the status. */
  async #tell(
    { metadata, status }: Work,
    { text, statuses }: { text: ConditionText; statuses?: ManifestStatus[] | undefined },
    context: ControllerContext,
    signal: AbortSignal,
  ) {
    const before = status?.conditions ?? []
    const known = conditionOf(before, text.type)
    const isSame =
      known?.status === text.status &&
      known.reason === text.reason &&
      known.message === text.message
    if (isSame && known.observedGeneration === text.observedGeneration) return before
    const conditions = withCondition(before, text, context.clock.now())
    const { namespace = '', name = '' } = metadata
    const patch = { status: { conditions, ...(statuses ? { manifestStatuses: statuses } : {}) } }
    const works = context.client(this.#shared.works)
    const written = await works.patchStatus({ namespace, name, type: 'merge', patch }, signal)
    // Applying a new version with the same result is not worth an event.
    if (isSame) return conditions
    const type = text.reason === failedReason ? 'Warning' : 'Normal'
    const message = text.message.slice(0, eventCharsMax)
    context.events.event(written, { type, reason: text.reason, message })
    return conditions
  }
}

function appliedText(work: Work, failures: readonly string[]): ConditionText {
  const { generation: observedGeneration = 0 } = work.metadata
  const text = { type: workConditions.applied, observedGeneration }
  const total = manifestsOf(work).length
  if (failures.length === 0) {
    const message = 'Manifest has been successfully applied'
    return { ...text, status: 'True', reason: 'AppliedSuccessful', message }
  }
  const causes = failures.length === 1 ? failures.join('') : `[${failures.join(', ')}]`
  const message = `Failed to apply all manifests (${total - failures.length}/${total}): ${causes}`
  return { ...text, status: 'False', reason: failedReason, message }
}
