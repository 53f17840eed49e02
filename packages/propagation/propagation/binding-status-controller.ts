import { equalJson, isStatusError, type AnyObject } from '@skerry/api'
import { keyOfObject, parseKey } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import {
  bindingConditions,
  workResource,
  type AggregatedStatusItem,
  type ResourceBinding,
} from '@skerry/karmada-kinds'
import { conditionOf, withCondition } from '@skerry/fleet-kinds'
import { aggregatedItems, fullyApplied } from './aggregate-works.ts'
import { originKey, type BindingScope } from './binding-scope.ts'
import type { FleetContext } from './fleet-context.ts'
import { bindingRefusal } from './own-object.ts'
import { workIndexes, worksOf } from './write-work.ts'

/** Tells on a binding how its object is in each cluster, and on the object how its copies are together. */
export function bindingStatusController(
  scope: BindingScope,
  shared: FleetContext,
): ControllerDefinition {
  return {
    name: `${scope.resource.resource}-status-controller`,
    watches: [
      watch(scope.resource, {
        keysOf: ({ type, object, old }) =>
          type === 'deleted' || object.metadata.generation === old?.metadata.generation
            ? []
            : [keyOfObject(object)],
      }),
      watch(workResource, {
        indexes: workIndexes,
        keysOf: ({ type, object, old }) => {
          const key = originKey(scope, object.metadata.annotations)
          const isTold = type === 'updated' && equalJson(object.status ?? {}, old.status ?? {})
          return key === undefined || isTold ? [] : [key]
        },
      }),
    ],
    async reconcile(key, context, signal) {
      const binding = context.informer(scope.resource).get(parseKey(key))
      if (binding === undefined || binding.metadata.deletionTimestamp) return
      if (bindingRefusal(binding) !== undefined) return
      const works = worksOf(scope, key, context)
      // An object that has not gone anywhere yet has no state.
      if (works.length === 0 && !hasTold(binding)) return
      const items = aggregatedItems(works, binding.spec.resource)
      await tellBinding({ scope, binding, items }, context, signal)
      await tellTemplate(binding, items, { shared, context }, signal)
    },
  }
}

function hasTold({ status }: ResourceBinding): boolean {
  return conditionOf(status?.conditions, bindingConditions.fullyApplied) !== undefined
}

interface Told {
  readonly scope: BindingScope
  readonly binding: ResourceBinding
  readonly items: AggregatedStatusItem[]
}

async function tellBinding(
  { scope, binding, items }: Told,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { conditions: known = [], aggregatedStatus = [] } = binding.status ?? {}
  const conditions = withCondition(known, fullyApplied(binding.spec, items), context.clock.now())
  if (equalJson(conditions, known) && equalJson(items, aggregatedStatus)) return
  const { namespace, name = '', resourceVersion } = binding.metadata
  const key = { name, ...(namespace ? { namespace } : {}) }
  // The scheduler writes a condition in the same list, so the later writer reads the binding again.
  const patch = { metadata: { resourceVersion }, status: { conditions, aggregatedStatus: items } }
  await context.client(scope.resource).patchStatus({ ...key, type: 'merge', patch }, signal)
}

async function tellTemplate(
  { spec }: ResourceBinding,
  items: readonly AggregatedStatusItem[],
  { shared, context }: { shared: FleetContext; context: ControllerContext },
  signal: AbortSignal,
): Promise<void> {
  const { templates, interpreter } = shared
  const template = await templates.get(spec.resource, signal)
  if (template === undefined || !interpreter.knows(template, 'AggregateStatus')) return
  const told = await interpreter.aggregateStatus(template, items, signal)
  if (equalJson(statusOf(told), statusOf(template))) return
  const client = await templates.client(template, signal)
  try {
    const written = await client.updateStatus(told, signal)
    const message = 'Update Resource with AggregatedStatus successfully.'
    context.events.event(written, { type: 'Normal', reason: 'AggregateStatusSucceed', message })
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
}

function statusOf(object: AnyObject): unknown {
  return object['status'] ?? {}
}
