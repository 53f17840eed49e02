import type { AnyObject } from '@skerry/api'
import { applyOverrides, type AppliedOverride, type OverrideInput } from './apply-overrides.ts'
import { orderOverridePolicies } from './order-overrides.ts'

/**
 * The object as one cluster is to have it, by all policies that there are. Those of its namespace are
 * chosen by what those of all namespaces have made of it, labels for one. Pure. Throws OverrideError.
 */
export function overrideObject(
  object: AnyObject,
  { policies, ...input }: OverrideInput,
): { object: AnyObject; applied: AppliedOverride[] } {
  const everywhere = policies.filter(({ metadata }) => !metadata.namespace)
  const own = policies.filter(({ metadata }) => metadata.namespace)
  const first = applyOverrides(object, {
    ...input,
    policies: orderOverridePolicies(object, everywhere),
  })
  const last = applyOverrides(first.object, {
    ...input,
    policies: orderOverridePolicies(first.object, own),
  })
  return { object: last.object, applied: [...first.applied, ...last.applied] }
}
