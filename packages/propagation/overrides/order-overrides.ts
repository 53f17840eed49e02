import type { AnyObject } from '@skerry/api'
import { highestSelectorRank, selectorRanks, type OverridePolicy } from '@skerry/karmada-kinds'

/**
 * Returns the policies that may change an object, in the order in which they apply: cluster-scoped ones
 * first, then those of its namespace; within each, the less closely matching first, then by name. The last
 * one to change a field takes precedence.
 */
export function orderOverridePolicies(
  object: AnyObject,
  policies: readonly OverridePolicy[],
): OverridePolicy[] {
  const { namespace } = object.metadata
  const everywhere = policies.filter(({ metadata }) => !metadata.namespace)
  const own = policies.filter(({ metadata }) => namespace && metadata.namespace === namespace)
  return [...inOrder(object, everywhere), ...inOrder(object, own)]
}

function inOrder(object: AnyObject, policies: readonly OverridePolicy[]): OverridePolicy[] {
  return policies
    .map((policy) => ({ policy, rank: rankOf(object, policy) }))
    .filter(({ rank }) => rank > selectorRanks.none)
    .toSorted((a, b) => a.rank - b.rank || (nameOf(a.policy) < nameOf(b.policy) ? -1 : 1))
    .map(({ policy }) => policy)
}

/** A policy without selectors means every object that it may see. */
function rankOf(object: AnyObject, { spec }: OverridePolicy): number {
  const { resourceSelectors = [] } = spec
  if (resourceSelectors.length === 0) return selectorRanks.kind
  return highestSelectorRank(object, resourceSelectors)
}

function nameOf({ metadata }: OverridePolicy): string {
  return metadata.name ?? ''
}
