import { StatusError, labelSelectorOf, type AnyObject, type LabelSelectorFields } from '@skerry/api'
import type { PropagationPolicy, ResourceSelector } from './propagation-policy.ts'

/** Ranks how closely a selector matches an object: of two policies with one priority, the closer wins. */
export const selectorRanks = Object.freeze({ none: 0, kind: 1, labels: 2, name: 3 })

/** Returns one of `selectorRanks`. A selector with a name ignores labels; a malformed one selects nothing. */
export function selectorRank(object: AnyObject, selector: ResourceSelector): number {
  const { namespace = '', name = '', labels } = object.metadata
  if (object.apiVersion !== selector.apiVersion || object.kind !== selector.kind) {
    return selectorRanks.none
  }
  if (selector.namespace && selector.namespace !== namespace) return selectorRanks.none
  if (selector.name) return selector.name === name ? selectorRanks.name : selectorRanks.none
  if (!selector.labelSelector) return selectorRanks.kind
  return hasLabels(labels, selector.labelSelector) ? selectorRanks.labels : selectorRanks.none
}

export function matchesSelector(object: AnyObject, selector: ResourceSelector): boolean {
  return selectorRank(object, selector) > selectorRanks.none
}

/** The closest of several selectors; `none` when none selects the object. */
export function highestSelectorRank(
  object: AnyObject,
  selectors: readonly ResourceSelector[],
): number {
  const ranks = selectors.map((selector) => selectorRank(object, selector))
  return Math.max(selectorRanks.none, ...ranks)
}

/** Returns the priority, by default 0. */
export function explicitPriority({ spec }: PropagationPolicy): number {
  return spec.priority ?? 0
}

/**
 * The policies of one scope that select an object, the one that gets it first: higher priority, then
 * closer selector, then name. An object in a namespace is offered to its PropagationPolicies before
 * any ClusterPropagationPolicy, whatever their priorities.
 */
export function matchingPolicies(
  object: AnyObject,
  policies: readonly PropagationPolicy[],
): PropagationPolicy[] {
  return policies
    .map((policy) => ({ policy, rank: highestSelectorRank(object, policy.spec.resourceSelectors) }))
    .filter(({ rank }) => rank > selectorRanks.none)
    .toSorted(
      (a, b) =>
        explicitPriority(b.policy) - explicitPriority(a.policy) ||
        b.rank - a.rank ||
        compareNames(a.policy, b.policy),
    )
    .map(({ policy }) => policy)
}

/** Returns the policy of one scope that gets an unclaimed object; undefined if none selects it. */
export function choosePolicy(
  object: AnyObject,
  policies: readonly PropagationPolicy[],
): PropagationPolicy | undefined {
  return matchingPolicies(object, policies)[0]
}

/**
 * Reports whether a policy may take an object from the one that claimed it. It must request preemption. A
 * policy of the namespace preempts a cluster-scoped one, never the reverse. Within one scope only a higher
 * priority counts: a closer selector does not.
 */
export function mayPreempt(challenger: PropagationPolicy, claimant: PropagationPolicy): boolean {
  if (challenger.spec.preemption !== 'Always') return false
  const isNamespaced = Boolean(challenger.metadata.namespace)
  if (isNamespaced !== Boolean(claimant.metadata.namespace)) return isNamespaced
  return explicitPriority(challenger) > explicitPriority(claimant)
}

function hasLabels(labels: AnyObject['metadata']['labels'], fields: LabelSelectorFields): boolean {
  try {
    return labelSelectorOf(fields).matches(labels)
  } catch (error) {
    // Admission refuses such a selector; one that was stored otherwise selects nothing.
    if (error instanceof StatusError) return false
    throw error
  }
}

function compareNames(a: PropagationPolicy, b: PropagationPolicy): number {
  const [first = '', second = ''] = [a.metadata.name, b.metadata.name]
  return first < second ? -1 : first > second ? 1 : 0
}
