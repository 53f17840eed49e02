import { messageOf } from '@skerry/base'
import { equalJson, isStatusError, type AnyObject } from '@skerry/api'
import { keyOfObject, resources, type Change, type ObjectKey } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type Watch,
} from '@skerry/controller-runtime'
import {
  bindingName,
  clusterOverridePolicyResource,
  highestSelectorRank,
  overridePolicyResource,
  selectorRanks,
  type OverridePolicy,
  type PropagationPolicy,
  type ResourceBinding,
} from '@skerry/karmada-kinds'
import { bindingScopeOf, bindingScopes } from './binding-scope.ts'
import {
  claimMetadata,
  clusterPolicies,
  isClaimedBy,
  namespacedPolicies,
  releasePatch,
  type PolicyScope,
} from './claim.ts'
import type { FleetContext } from './fleet-context.ts'
import { asksForTheSame, mergedBinding, plannedBinding } from './plan-binding.ts'
import { planPropagation } from './plan-propagation.ts'
import { releaseTemplate } from './release-template.ts'
import { isPropagatable } from './reserved-objects.ts'
import { isOfSpecification, isOfUser } from './template-change.ts'
import {
  parseTemplateKey,
  templateKey,
  templateRef,
  type TemplateRef,
  type Templates,
} from './templates.ts'

/** Creates the binding of each object that a policy selects, and keeps it up to date. */
export function resourceDetector(shared: FleetContext): ControllerDefinition {
  const detector = new Detector(shared)
  return {
    name: 'resource-detector',
    watches: [
      detector.watchTemplates(),
      ...[namespacedPolicies, clusterPolicies].map(({ resource }) =>
        watch(resource, {
          keysOf: (change) => detector.selectedBy(change),
        }),
      ),
      watch(overridePolicyResource, {
        keysOf: ({ type, object }, context) =>
          type === 'added' ? detector.awaiting(object, namespacedPolicies, context) : [],
      }),
      watch(clusterOverridePolicyResource, {
        keysOf: ({ type, object }, context) =>
          type === 'added' ? detector.awaiting(object, clusterPolicies, context) : [],
      }),
      // A binding that somebody deleted is recreated.
      ...bindingScopes.map(({ resource }) =>
        watch(resource, {
          keysOf: ({ type, object }) =>
            type === 'deleted' ? [templateKey(object.spec.resource)] : [],
        }),
      ),
    ],
    reconcile: (key, context, signal) => detector.reconcile(key, context, signal),
  }
}

class Detector {
  readonly #shared: FleetContext
  /** The keys of templates that a user has changed since the last look. */
  readonly #changedByUser = new Set<string>()

  constructor(shared: FleetContext) {
    this.#shared = shared
  }

  watchTemplates(): Watch {
    return {
      resource: namespacedPolicies.resource,
      subscribe: (_context, enqueue) =>
        this.#shared.templates.onChange((key, change, isInitial) => {
          if (!isPropagatable(parseTemplateKey(key)) || !isOfSpecification(change)) return
          if (!isInitial && isOfUser(change)) this.#changedByUser.add(key)
          enqueue(key)
        }),
    }
  }

  /** Covers the kinds that are watched by now; objects of other kinds arrive with their watch. */
  selectedBy({ type, object, old }: Change<PropagationPolicy>): string[] {
    if (type === 'updated' && object.metadata.generation === old.metadata.generation) return []
    const policies = old ? [object, old] : [object]
    const selectors = policies.flatMap(({ spec }) => spec.resourceSelectors)
    const kinds = new Map(selectors.map((each) => [`${each.apiVersion} ${each.kind}`, each]))
    return [...kinds.values()].flatMap((kind) =>
      this.#templates
        .list(kind, object.metadata.namespace)
        .filter(
          (template) =>
            isPropagatable(templateRef(template)) &&
            (isClaimedBy(template, object) ||
              highestSelectorRank(template, selectors) > selectorRanks.none),
        )
        .map((template) => templateKey(templateRef(template))),
    )
  }

  /** Returns the objects that waited for this override policy. */
  awaiting(
    { metadata: { name = '', namespace } }: OverridePolicy,
    { resource }: PolicyScope,
    context: ControllerContext,
  ): string[] {
    return context
      .informer(resource)
      .list(namespace)
      .filter(({ spec }) => spec.dependentOverrides?.includes(name))
      .flatMap((object) => this.selectedBy({ type: 'added', object }))
  }

  async reconcile(key: string, context: ControllerContext, signal: AbortSignal): Promise<void> {
    const isChangedByUser = this.#changedByUser.delete(key)
    try {
      await this.#propagate({ key, isChangedByUser }, context, signal)
    } catch (error) {
      if (isChangedByUser) this.#changedByUser.add(key)
      throw error
    }
  }

  async #propagate(
    { key, isChangedByUser }: { key: string; isChangedByUser: boolean },
    context: ControllerContext,
    signal: AbortSignal,
  ): Promise<void> {
    const ref = parseTemplateKey(key)
    const template = await this.#templates.get(ref, signal)
    if (template === undefined) {
      // While a kind's server is unreachable, its objects may still exist.
      if (await this.#templates.serves(ref, signal)) await deleteBinding(ref, context, signal)
      return
    }
    const { namespace } = template.metadata
    const plan = planPropagation({
      template,
      policies: context.informer(namespacedPolicies.resource).list(namespace ?? ''),
      clusterPolicies: context.informer(clusterPolicies.resource).list(),
    })
    if (plan.act === 'release') {
      await releaseTemplate({ template, scope: plan.scope }, this.#shared, context, signal)
    }
    if (plan.act !== 'apply') return
    const { policy } = plan
    await this.#applyAndTell({ template, policy, isChangedByUser }, context, signal)
  }

  get #templates(): Templates {
    return this.#shared.templates
  }

  async #applyAndTell(
    { template, policy, isChangedByUser }: Application,
    context: ControllerContext,
    signal: AbortSignal,
  ): Promise<void> {
    const name = keyOfObject(policy)
    try {
      expectOverrides(policy, context)
      const claimed = await this.#claim(template, policy, signal)
      const application = { template: claimed, policy, isChangedByUser }
      const isApplied = await this.#apply(application, context, signal)
      if (!isApplied) return
      const message = `Apply policy(${name}) succeed`
      context.events.event(claimed, { type: 'Normal', reason: 'ApplyPolicySucceed', message })
    } catch (error) {
      signal.throwIfAborted()
      if (isStatusError(error, 'Conflict')) throw error
      const why = messageOf(error)
      const message = `Apply policy(${name}) failed: ${why}`
      context.events.event(template, { type: 'Warning', reason: 'ApplyPolicyFailed', message })
      throw error
    }
  }

  async #claim(
    template: AnyObject,
    policy: PropagationPolicy,
    signal: AbortSignal,
  ): Promise<AnyObject> {
    const wanted = claimMetadata(policy)
    const { labels = {}, annotations = {}, namespace, name = '' } = template.metadata
    const isClusterClaimed = policy.metadata.namespace && labels[clusterPolicies.idLabel]
    const has = (there: Record<string, string>, keys: Record<string, string>): boolean =>
      Object.entries(keys).every(([key, value]) => there[key] === value)
    const isClaimed = has(labels, wanted.labels) && has(annotations, wanted.annotations)
    if (isClaimed && !isClusterClaimed) return template
    const released = isClusterClaimed ? releasePatch(clusterPolicies) : undefined
    const patch = {
      metadata: {
        labels: { ...released?.labels, ...wanted.labels },
        annotations: { ...released?.annotations, ...wanted.annotations },
        resourceVersion: template.metadata.resourceVersion,
      },
    }
    const client = await this.#templates.client(template, signal)
    const key = { name, ...(namespace ? { namespace } : {}) }
    return client.patch({ ...key, type: 'merge', patch }, signal)
  }

  /** False where nothing was to be changed. */
  async #apply(
    { template, policy, isChangedByUser }: Application,
    context: ControllerContext,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { resource } = bindingScopeOf(template.metadata.namespace)
    const known = context.informer(resource).get(bindingKeyOf(template))
    const mayWait = policy.spec.activationPreference === 'Lazy' && !isChangedByUser
    if (mayWait && known === undefined && !isNewer(template, policy)) return false
    const planned = await this.#planned(template, policy, context, signal)
    // The object may have been changed while no hub was watching.
    if (mayWait && known && asksForTheSame(known, planned)) return false
    const bindings = context.client(resource)
    if (known === undefined) {
      await bindings.create(planned, signal)
      return true
    }
    expectOwner(known, template)
    const merged = mergedBinding(known, planned)
    if (equalJson(merged, known)) return false
    await bindings.update(merged, signal)
    return true
  }

  async #planned(
    template: AnyObject,
    policy: PropagationPolicy,
    context: ControllerContext,
    signal: AbortSignal,
  ): Promise<ResourceBinding> {
    const { interpreter } = this.#shared
    const schedulePriority = await priorityOf(policy, context, signal)
    if (interpreter.knows(template, 'InterpretComponent')) {
      const components = await interpreter.components(template, signal)
      return plannedBinding({ template, policy, components, schedulePriority })
    }
    const interpreted = interpreter.knows(template, 'InterpretReplica')
      ? await interpreter.replicas(template, signal)
      : undefined
    return plannedBinding({ template, policy, interpreted, schedulePriority })
  }
}

/** Deletes the binding of a deleted object; an orphaned binding no longer has an owner. */
async function deleteBinding(
  { kind, name, namespace }: TemplateRef,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { resource } = bindingScopeOf(namespace)
  const key = { ...(namespace ? { namespace } : {}), name: bindingName(kind, name) }
  const {
    uid,
    deletionTimestamp,
    ownerReferences = [],
  } = context.informer(resource).get(key)?.metadata ?? {}
  const isOwned = ownerReferences.some((owner) => owner.controller && owner.kind === kind)
  if (uid === undefined || deletionTimestamp || !isOwned) return
  try {
    await context.client(resource).delete({ ...key, preconditions: { uid } }, signal)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
}

interface Application {
  readonly template: AnyObject
  readonly policy: PropagationPolicy
  /**
   * True if neither a controller of the fleet made the change, nor the object was merely seen for the first
   * time.
   */
  readonly isChangedByUser: boolean
}

function bindingKeyOf({ kind, metadata }: AnyObject): ObjectKey {
  const { namespace, name = '' } = metadata
  return { ...(namespace ? { namespace } : {}), name: bindingName(kind, name) }
}

/**
 * Reports whether the object is newer than the policy: a lazy policy then applies at once. Times are whole
 * seconds.
 */
function isNewer(template: AnyObject, policy: PropagationPolicy): boolean {
  const made = template.metadata.creationTimestamp ?? ''
  return made > (policy.metadata.creationTimestamp ?? '')
}

/** An object must not arrive without what makes it fit a cluster. */
function expectOverrides({ metadata, spec }: PropagationPolicy, context: ControllerContext): void {
  const { namespace } = metadata
  const informer = context.informer(
    namespace ? overridePolicyResource : clusterOverridePolicyResource,
  )
  const missing = (spec.dependentOverrides ?? []).filter(
    (name) => informer.get({ name, ...(namespace ? { namespace } : {}) }) === undefined,
  )
  if (missing.length === 0) return
  throw new Error(
    `Cannot propagate yet: override policy "${missing.join('", "')}" is not there, and the policy depends on it`,
  )
}

/** The binding of a deleted object of the same name must go before this object gets its own. */
function expectOwner({ metadata }: ResourceBinding, template: AnyObject): void {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  if (owner === undefined || owner.uid === template.metadata.uid) return
  throw new Error(
    `Cannot bind ${template.kind} "${template.metadata.name ?? ''}": binding "${metadata.name ?? ''}" still belongs to an object of the same name that was deleted`,
  )
}

async function priorityOf(
  { spec }: PropagationPolicy,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (spec.schedulePriority === undefined) return undefined
  const { priorityClassSource, priorityClassName: name } = spec.schedulePriority
  if (priorityClassSource !== 'KubePriorityClass') {
    throw new Error(
      `Cannot take a priority from ${priorityClassSource}: only KubePriorityClass is known`,
    )
  }
  return (await context.cluster.resource(resources.priorityClasses).get({ name }, signal)).value
}
