import { equalJson, isJsonObject, type AnyObject } from '@skerry/api'
import { keyOfObject, parseKey, type Change } from '@skerry/client'
import {
  dropFinalizer,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type Watch,
} from '@skerry/controller-runtime'
import {
  dependenciesKey,
  resourceBindingResource,
  tenantOptions,
  workResource,
  type ResourceBinding,
  type Work,
} from '@skerry/karmada-kinds'
import type { DependentObject } from '@skerry/interpreter'
import { namespacedBindings, originKey } from './binding-scope.ts'
import type { FleetContext } from './fleet-context.ts'
import { hasEverywhere } from './hold-waves.ts'
import { bindingRefusal } from './own-object.ts'
import {
  attachedBinding,
  attachedLabel,
  isDependent,
  withoutParent,
  withParent,
} from './plan-attached.ts'
import { isPropagatable } from './reserved-objects.ts'
import { templateRef, type TemplateKind } from './templates.ts'
import { workIndexes } from './write-work.ts'

/** Set on a binding while others may be attached to it. */
const distributorFinalizer = 'karmada.io/binding-dependencies-distributor'

const byDependency = 'dependency'
const byAttachment = 'attachment'

/** Sends an object's dependencies to the clusters of the object, if its policy requests that. */
export function dependenciesDistributor(shared: FleetContext): ControllerDefinition {
  const distributor = new Distributor(shared)
  return {
    name: 'dependencies-distributor',
    watches: [
      watch(resourceBindingResource, {
        indexes: {
          [byDependency]: (binding) => recordedDependents(binding).map(placeOf),
          [byAttachment]: ({ metadata }) => Object.keys(metadata.labels ?? {}),
        },
        keysOf: ({ type, object, old }) => {
          // A binding that somebody deleted is recreated.
          if (type === 'deleted') return (object.spec.requiredBy ?? []).map(parentKey)
          const isOne = isParent(object) || (old !== undefined && isParent(old))
          return isSame(object, old) || !isOne ? [] : [keyOfObject(object)]
        },
      }),
      distributor.watchDependents(),
      // A cluster now has the newest version; former dependencies may be removed when the last one has.
      watch(workResource, {
        indexes: workIndexes,
        keysOf: ({ type, object, old }, context) =>
          type === 'deleted' || object.metadata.generation === old?.metadata.generation
            ? []
            : distributor.waitingFor(object, context),
      }),
    ],
    reconcile: (key, context, signal) => distributor.reconcile(key, context, signal),
  }
}

function isSame({ metadata }: ResourceBinding, old: ResourceBinding | undefined): boolean {
  return (
    metadata.generation === old?.metadata.generation &&
    metadata.deletionTimestamp === old?.metadata.deletionTimestamp
  )
}

function parentKey({ namespace = '', name }: { namespace?: string; name: string }): string {
  return `${namespace}/${name}`
}

/** Includes a former parent whose attachments must end. */
function isParent({ metadata, spec }: ResourceBinding): boolean {
  return spec.propagateDeps === true || (metadata.finalizers ?? []).includes(distributorFinalizer)
}

class Distributor {
  readonly #shared: FleetContext

  constructor(shared: FleetContext) {
    this.#shared = shared
  }

  /** Enqueues the bindings whose objects depend on one that appeared, changed or disappeared. */
  watchDependents(): Watch {
    return {
      resource: resourceBindingResource,
      subscribe: (context, enqueue) =>
        this.#shared.templates.onChange((_key, change) => {
          for (const binding of needing(change, context)) enqueue(keyOfObject(binding))
        }),
    }
  }

  /** Returns the binding that keeps a former dependency until its newest Works are written. */
  waitingFor({ metadata }: Work, context: ControllerContext): string[] {
    const key = originKey(namespacedBindings, metadata.annotations)
    const binding = key && context.informer(resourceBindingResource).get(parseKey(key))
    if (!binding || !isParent(binding)) return []
    const needed = recordedDependents(binding)
    return attachedTo(binding, context).some((each) => !this.#isOf(each, needed)) ? [key] : []
  }

  async reconcile(key: string, context: ControllerContext, signal: AbortSignal): Promise<void> {
    const binding = context.informer(resourceBindingResource).get(parseKey(key))
    if (binding === undefined) return
    if (binding.spec.propagateDeps !== true || binding.metadata.deletionTimestamp) {
      await this.#detach(binding, attachedTo(binding, context), context, signal)
      return dropFinalizer(
        { object: binding, resource: resourceBindingResource, finalizer: distributorFinalizer },
        context,
        signal,
      )
    }
    const isPlaced = (binding.spec.clusters ?? []).length > 0
    if (bindingRefusal(binding) !== undefined) return
    if (!isPlaced && recordedDependents(binding).length === 0) return
    const { templates, interpreter } = this.#shared
    const template = await templates.get(binding.spec.resource, signal)
    if (template === undefined || !interpreter.knows(template, 'InterpretDependency')) return
    const needed = await interpreter.dependencies(template, signal)
    const dependents = this.#permitted({ binding, template, needed }, context)
    const parent = await record(binding, dependents, context, signal)
    const objects = await this.#objectsOf(dependents, signal)
    // A cluster that still has the previous object needs that one's dependencies.
    if (hasEverywhere({ binding: parent, template }, context)) {
      const orphans = attachedTo(parent, context).filter((each) => !this.#isOf(each, dependents))
      await this.#detach(parent, orphans, context, signal)
    }
    for (const object of objects) {
      await this.#attach(parent, object, context, signal)
    }
  }

  /**
   * Returns the dependencies in the object's own namespace, or all if the hub's options allow that. An event
   * names the dropped ones.
   */
  #permitted(
    { binding, template, needed }: Needs,
    context: ControllerContext,
  ): readonly DependentObject[] {
    if (this.#shared.rules.foreignDependencies === true) return needed
    const { namespace = '' } = binding.metadata
    const foreign = needed.filter((each) => each.namespace !== namespace)
    const [first] = foreign
    if (first === undefined) return needed
    const { kind, namespace: other, name = '' } = first
    const message = `Cannot propagate ${foreign.length} dependencies, ${kind} "${other}/${name}" for one: they are not of namespace "${namespace}"; propagate them by a policy of their own, or start the hub with ${tenantOptions.foreignDependencies}`
    const told = { type: 'Warning', reason: 'GetDependenciesFailed', message } as const
    context.events.event(binding, told)
    context.events.event(template, told)
    return needed.filter((each) => each.namespace === namespace)
  }

  /** An unknown object may have any label. If it is gone, its binding is deleted anyway. */
  #isOf({ spec }: ResourceBinding, dependents: readonly DependentObject[]): boolean {
    const known = this.#shared.templates.known(spec.resource)
    if (known) return isDependent({ ...spec.resource, ...labelsOf(known) }, dependents)
    const byName = dependents.map(({ labelSelector, ...each }) =>
      labelSelector === undefined ? each : { ...each, name: spec.resource.name },
    )
    return isDependent(spec.resource, byName)
  }

  /** Returns the existing ones; an event announces the others later. */
  async #objectsOf(
    dependents: readonly DependentObject[],
    signal: AbortSignal,
  ): Promise<AnyObject[]> {
    const { templates } = this.#shared
    const found: AnyObject[] = []
    for (const [kind, ofKind] of byKind(dependents)) {
      if (!(await templates.watch(kind, signal))) continue
      const objects = templates.list(kind).filter((object) => {
        const ref = templateRef(object)
        const labels = object.metadata.labels ?? {}
        return isPropagatable(ref) && isDependent({ ...ref, labels }, ofKind)
      })
      found.push(...objects)
    }
    return found
  }

  async #attach(
    parent: ResourceBinding,
    object: AnyObject,
    context: ControllerContext,
    signal: AbortSignal,
  ): Promise<void> {
    const planned = attachedBinding(parent, object)
    const known = context.informer(resourceBindingResource).get(parseKey(keyOfObject(planned)))
    const bindings = context.client(resourceBindingResource)
    if (known === undefined) {
      await bindings.create(planned, signal)
      return
    }
    const owner = known.metadata.ownerReferences?.find(({ controller }) => controller)
    if (owner !== undefined && owner.uid !== object.metadata.uid) {
      throw new Error(
        `Cannot attach binding "${keyOfObject(known)}": it still belongs to an object of the same name that was deleted`,
      )
    }
    const parents = [...otherParents(known, parent, context), parent]
    const merged = withParent(known, parent, { object, parents })
    if (!equalJson(merged, known)) await bindings.update(merged, signal)
  }

  async #detach(
    parent: ResourceBinding,
    attached: readonly ResourceBinding[],
    context: ControllerContext,
    signal: AbortSignal,
  ): Promise<void> {
    for (const binding of attached) {
      const rest = withoutParent(binding, parent, otherParents(binding, parent, context))
      await context.client(resourceBindingResource).update(rest, signal)
    }
  }
}

interface Needs {
  readonly binding: ResourceBinding
  readonly template: AnyObject
  readonly needed: readonly DependentObject[]
}

function labelsOf({ metadata }: AnyObject): { labels?: Record<string, string> } {
  return metadata.labels ? { labels: metadata.labels } : {}
}

function byKind(dependents: readonly DependentObject[]) {
  const kinds = new Map<string, DependentObject[]>()
  for (const each of dependents) {
    const key = `${each.apiVersion} ${each.kind}`
    kinds.set(key, [...(kinds.get(key) ?? []), each])
  }
  return [...kinds.values()].flatMap((list) =>
    list.slice(0, 1).map((first) => [first, list] as const),
  )
}

function needing(change: Change<AnyObject>, context: ControllerContext): ResourceBinding[] {
  const objects = change.old ? [change.object, change.old] : [change.object]
  const informer = context.informer(resourceBindingResource)
  return objects.flatMap((object) => {
    const ref = { ...templateRef(object), labels: object.metadata.labels ?? {} }
    return informer
      .byIndex(byDependency, placeOf(ref))
      .filter((binding) => isDependent(ref, recordedDependents(binding)))
  })
}

function placeOf({ apiVersion, kind, namespace = '' }: TemplateKind & { namespace?: string }) {
  return `${apiVersion} ${kind} ${namespace}`
}

function attachedTo(parent: ResourceBinding, context: ControllerContext): ResourceBinding[] {
  return context
    .informer(resourceBindingResource)
    .byIndex(byAttachment, attachedLabel(parent))
    .filter(({ metadata }) => metadata.namespace === parent.metadata.namespace)
}

function otherParents(
  { spec }: ResourceBinding,
  parent: ResourceBinding,
  context: ControllerContext,
): ResourceBinding[] {
  const informer = context.informer(resourceBindingResource)
  return (spec.requiredBy ?? []).flatMap(({ namespace = '', name }) => {
    if (name === parent.metadata.name && namespace === parent.metadata.namespace) return []
    return informer.get({ namespace, name }) ?? []
  })
}

/** Records the dependencies, so that a change of any of them triggers a reconcile. */
async function record(
  binding: ResourceBinding,
  dependents: readonly DependentObject[],
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ResourceBinding> {
  const text = JSON.stringify(dependents)
  const { annotations = {}, finalizers = [] } = binding.metadata
  const isRecorded = annotations[dependenciesKey] === text
  if (isRecorded && finalizers.includes(distributorFinalizer)) return binding
  const metadata = {
    ...binding.metadata,
    annotations: { ...annotations, [dependenciesKey]: text },
    finalizers: [...new Set([...finalizers, distributorFinalizer])],
  }
  return context.client(resourceBindingResource).update({ ...binding, metadata }, signal)
}

/** The text was written by this controller or Karmada's. */
function recordedDependents({ metadata }: ResourceBinding): DependentObject[] {
  const text = metadata.annotations?.[dependenciesKey]
  if (text === undefined) return []
  // The kind's own rules see to it that the text is a list in JSON.
  const list: unknown = JSON.parse(text)
  return Array.isArray(list) ? list.filter((each) => isReference(each)) : []
}

function isReference(value: unknown): value is DependentObject {
  return (
    isJsonObject(value) &&
    typeof value['apiVersion'] === 'string' &&
    typeof value['kind'] === 'string'
  )
}
