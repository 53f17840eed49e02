import { equalJson, isStatusError, type AnyObject } from '@skerry/api'
import { messageOf } from '@skerry/base'
import { keyOfObject, parseKey, type EventText } from '@skerry/client'
import {
  dropFinalizer,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type WatchOptions,
} from '@skerry/controller-runtime'
import { isReady } from '@skerry/cluster-agent'
import {
  clusterOverridePolicyResource,
  matchesSelector,
  overridePolicyResource,
  waveKeys,
  workResource,
  type OverridePolicy,
  type PropagationPolicy,
  type ResourceBinding,
  type Work,
} from '@skerry/karmada-kinds'
import { clusterResource, type Cluster } from '@skerry/fleet-kinds'
import { originKey, type BindingScope } from './binding-scope.ts'
import { keepingClusters, purgedClusters, targetsOf } from './binding-targets.ts'
import { clusterPolicies, isClaimedBy, namespacedPolicies } from './claim.ts'
import { memberCluster, overridePoliciesFor } from './cluster-manifest.ts'
import type { FleetContext } from './fleet-context.ts'
import { goesInWaves, openWorks, wavesFor, type Rollout } from './hold-waves.ts'
import { bindingRefusal } from './own-object.ts'
import { planSites } from './plan-sites.ts'
import { clusterOfWork, workIndexes, worksOf, writeWork } from './write-work.ts'
import { propagationBounds } from '../limits-table.ts'

const byCluster = 'cluster'
const { waveLookMs, writesMax, eventCharsMax } = propagationBounds.bindingController

/** Keeps one Work for each cluster that a binding has, and none for any other. */
export function bindingController(scope: BindingScope, shared: FleetContext): ControllerDefinition {
  const bindings = new Bindings(scope, shared)
  const onOverride: WatchOptions<OverridePolicy> = {
    keysOf: ({ object, old }, context) =>
      old?.metadata.generation === object.metadata.generation
        ? []
        : bindings.changedBy(old ? [object, old] : [object], context),
  }
  const bindingsOf = (
    { metadata }: Cluster,
    context: ControllerContext,
    matters: typeof goesInWaves = () => true,
  ) =>
    context
      .informer(scope.resource)
      .byIndex(byCluster, metadata.name ?? '')
      .filter((binding) => matters(binding, context))
      .map(keyOfObject)
  const onWaves: WatchOptions<PropagationPolicy>['keysOf'] = ({ object, old }, context) =>
    isSameWaves(object, old) ? [] : bindings.claimedBy(object, context)
  return {
    name: `${scope.resource.resource}-controller`,
    watches: [
      watch(scope.resource, {
        indexes: { [byCluster]: ({ spec }) => targetsOf(spec).map(({ name }) => name) },
        keysOf: ({ type, object, old }) =>
          type === 'deleted' || isSame(object, old) ? [] : [keyOfObject(object)],
      }),
      // A Work that is gone makes room for one that was waiting; one deleted by hand is recreated.
      watch(workResource, {
        indexes: workIndexes,
        keysOf: ({ type, object, old }) =>
          type === 'deleted' || (old && object.metadata.generation !== old.metadata.generation)
            ? bindings.keysOf(object)
            : [],
      }),
      watch(workResource, {
        keysOf: ({ object, old }, context) => bindings.waitingFor(object, old, context),
        delayMs: waveLookMs,
      }),
      watch(namespacedPolicies.resource, { keysOf: onWaves }),
      watch(clusterPolicies.resource, { keysOf: onWaves }),
      watch(overridePolicyResource, onOverride),
      watch(clusterOverridePolicyResource, onOverride),
      watch(clusterResource, {
        keysOf: ({ type, object, old }, context) =>
          type === 'deleted' || isSameTarget(object, old) ? [] : bindingsOf(object, context),
      }),
      watch(clusterResource, {
        keysOf: ({ type, object, old }, context) =>
          type === 'deleted' || isReady(object) === (old && isReady(old))
            ? []
            : bindingsOf(object, context, goesInWaves),
        delayMs: waveLookMs,
      }),
    ],
    reconcile: (key, context, signal) => bindings.reconcile(key, context, signal),
  }
}

function isSame({ metadata }: ResourceBinding, old: ResourceBinding | undefined): boolean {
  return (
    metadata.generation === old?.metadata.generation &&
    metadata.deletionTimestamp === old?.metadata.deletionTimestamp
  )
}

/** Overrides select clusters by spec and labels. */
function isSameTarget(cluster: Cluster, old: Cluster | undefined): boolean {
  return (
    old !== undefined &&
    equalJson(cluster.spec, old.spec) &&
    equalJson(cluster.metadata.labels ?? {}, old.metadata.labels ?? {})
  )
}

/** Changes of a policy other than to its waves arrive through its bindings. */
function isSameWaves(policy: PropagationPolicy, old: PropagationPolicy | undefined): boolean {
  return Object.values(waveKeys).every(
    (key) => policy.metadata.annotations?.[key] === old?.metadata.annotations?.[key],
  )
}

class Bindings {
  readonly #scope: BindingScope
  readonly #shared: FleetContext

  constructor(scope: BindingScope, shared: FleetContext) {
    this.#scope = scope
    this.#shared = shared
  }

  keysOf({ metadata }: Work): string[] {
    const key = originKey(this.#scope, metadata.annotations)
    return key === undefined ? [] : [key]
  }

  /** Returns the binding whose next wave a cluster's report may open. */
  waitingFor(work: Work, old: Work | undefined, context: ControllerContext): string[] {
    if (old === undefined || equalJson(work.status ?? {}, old.status ?? {})) return []
    return this.keysOf(work).filter((key) =>
      goesInWaves(context.informer(this.#scope.resource).get(parseKey(key)), context),
    )
  }

  claimedBy(policy: PropagationPolicy, context: ControllerContext): string[] {
    const bindings = context.informer(this.#scope.resource).list(policy.metadata.namespace)
    return bindings.filter((binding) => isClaimedBy(binding, policy)).map(keyOfObject)
  }

  /** Returns the bindings whose objects an override policy selects, or did. */
  changedBy(policies: readonly OverridePolicy[], context: ControllerContext): string[] {
    const [first] = policies
    const bindings = context.informer(this.#scope.resource).list(first?.metadata.namespace)
    const isAll = policies.some(({ spec }) => (spec.resourceSelectors ?? []).length === 0)
    // Another override may add or remove labels.
    const selectors = policies
      .flatMap(({ spec }) => spec.resourceSelectors ?? [])
      .map(({ labelSelector: _labels, ...selector }) => selector)
    const { templates } = this.#shared
    return bindings
      .filter(({ spec }) => {
        const template = templates.known(spec.resource)
        // An object that is not known may match.
        return (
          isAll ||
          template === undefined ||
          selectors.some((selector) => matchesSelector(template, selector))
        )
      })
      .map(keyOfObject)
  }

  async reconcile(key: string, context: ControllerContext, signal: AbortSignal): Promise<void> {
    const binding = context.informer(this.#scope.resource).get(parseKey(key))
    if (binding === undefined) return
    const works = worksOf(this.#scope, key, context)
    if (binding.metadata.deletionTimestamp) {
      await this.#deleteWorks(works, context, signal)
      return dropFinalizer({ object: binding, ...this.#scope }, context, signal)
    }
    const kept = keepingClusters(binding.spec)
    const orphans = works.filter((work) => !kept.has(clusterOfWork(work)))
    await this.#deleteWorks(orphans, context, signal)
    const purged = purgedClusters(binding.spec)
    // The end of these Works triggers another reconcile.
    if (orphans.some((work) => purged.has(clusterOfWork(work)))) return
    const refusal = bindingRefusal(binding)
    if (refusal !== undefined) {
      context.events.event(binding, dispatchText(binding, [refusal]))
      return
    }
    const template = await this.#shared.templates.get(binding.spec.resource, signal)
    if (template === undefined) return
    await this.#dispatchAndTell({ binding, template }, context, signal)
  }

  async #dispatchAndTell(
    { binding, template }: Dispatch,
    context: ControllerContext,
    signal: AbortSignal,
  ): Promise<void> {
    const plan = await this.#plan({ binding, template }, context, signal)
    const failures = plan.failures.map(({ why }) => why)
    let isChanged = false
    const works = worksToWrite({ binding, template, ...plan }, failures, context)
    for (let at = 0; at < works.length; at += writesMax) {
      const writes = works.slice(at, at + writesMax).map((work) => writeWork(work, context, signal))
      for (const write of await Promise.allSettled(writes)) {
        signal.throwIfAborted()
        if (write.status === 'fulfilled') isChanged ||= write.value
        else failures.push(messageOf(write.reason))
      }
    }
    if (failures.length === 0 && !isChanged) return
    const told = dispatchText(binding, failures)
    context.events.event(binding, told)
    context.events.event(template, told)
    if (failures.length > 0) {
      throw new Error(`Cannot write Works of binding "${keyOfObject(binding)}": ${told.message}`)
    }
  }

  #plan({ binding, template }: Dispatch, context: ControllerContext, signal: AbortSignal) {
    return planSites(
      {
        scope: this.#scope,
        binding,
        template,
        policies: overridePoliciesFor(template, context),
        rules: this.#shared.rules,
        interpreter: this.#shared.interpreter,
        clusterOf: (name) => memberCluster(name, context),
        workOf: (work) => context.informer(workResource).get(parseKey(keyOfObject(work))),
      },
      signal,
    )
  }

  /** Deletes Works, except those of clusters that leave the fleet, which keep their objects. */
  async #deleteWorks(
    works: readonly Work[],
    context: ControllerContext,
    signal: AbortSignal,
  ): Promise<void> {
    for (const work of works) {
      const { namespace = '', name = '', deletionTimestamp } = work.metadata
      const cluster = clusterOfWork(work)
      if (deletionTimestamp || !memberCluster(cluster, context)) continue
      try {
        await context.client(workResource).delete({ namespace, name }, signal)
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error
      }
    }
  }
}

/** Returns no Works if the waves are invalid: it is better to reach no cluster than all at once. */
function worksToWrite(
  rollout: Rollout,
  failures: string[],
  context: ControllerContext,
): readonly Work[] {
  try {
    return openWorks(rollout, wavesFor(rollout.binding, context))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    failures.push(error.message)
    return []
  }
}

function dispatchText(binding: ResourceBinding, failures: readonly string[]): EventText {
  if (failures.length === 0) {
    const message = `Sync work of ${binding.kind}(${keyOfObject(binding)}) successful.`
    return { type: 'Normal', reason: 'SyncWorkSucceed', message }
  }
  const causes = failures.length === 1 ? failures.join('') : `[${failures.join(', ')}]`
  return { type: 'Warning', reason: 'SyncWorkFailed', message: causes.slice(0, eventCharsMax) }
}

interface Dispatch {
  readonly binding: ResourceBinding
  /** The object as it is on the hub. */
  readonly template: AnyObject
}
