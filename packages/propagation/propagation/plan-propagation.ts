import type { AnyObject } from '@skerry/api'
import {
  choosePolicy,
  highestSelectorRank,
  matchingPolicies,
  mayPreempt,
  selectorRanks,
  type PropagationPolicy,
} from '@skerry/karmada-kinds'
import {
  clusterPolicies,
  claimOf,
  namespacedPolicies,
  type Claim,
  type PolicyScope,
} from './claim.ts'

/** The decision about an object of the hub. */
export type PropagationPlan =
  | { readonly act: 'apply'; readonly policy: PropagationPolicy }
  /** The policy is gone: its claim is removed, and another policy may claim the object. */
  | { readonly act: 'release'; readonly scope: PolicyScope }
  | { readonly act: 'nothing' }

export interface PropagationInput {
  readonly template: AnyObject
  /** The policies of the object's namespace. */
  readonly policies: readonly PropagationPolicy[]
  readonly clusterPolicies: readonly PropagationPolicy[]
}

/**
 * Decides which policy claims an object. Pure. A claim holds even while another policy matches better, until
 * that one preempts it.
 */
export function planPropagation(input: PropagationInput): PropagationPlan {
  const { template } = input
  if (template.metadata.deletionTimestamp) return { act: 'nothing' }
  const living = {
    policies: template.metadata.namespace ? input.policies.filter(isLiving) : [],
    clusterPolicies: input.clusterPolicies.filter(isLiving),
  }
  const claim = claimOf(template)
  if (claim) return planClaimed(input, claim, living)
  const policy =
    choosePolicy(template, living.policies) ?? choosePolicy(template, living.clusterPolicies)
  return policy ? { act: 'apply', policy } : { act: 'nothing' }
}

type Living = Pick<PropagationInput, 'policies' | 'clusterPolicies'>

function planClaimed(input: PropagationInput, claim: Claim, living: Living): PropagationPlan {
  const { template } = input
  const claimant = claimantOf(input, claim)
  if (claimant === undefined) return { act: 'release', scope: claim.scope }
  // The policy's own controller removes the claims before it is deleted.
  if (!isLiving(claimant)) return { act: 'nothing' }
  const challenger =
    challengerOf(template, living.policies, claimant) ??
    challengerOf(template, living.clusterPolicies, claimant)
  if (challenger) return { act: 'apply', policy: challenger }
  const rank = highestSelectorRank(template, claimant.spec.resourceSelectors)
  return rank > selectorRanks.none ? { act: 'apply', policy: claimant } : { act: 'nothing' }
}

function claimantOf(input: PropagationInput, claim: Claim): PropagationPolicy | undefined {
  const policies = claim.scope === clusterPolicies ? input.clusterPolicies : input.policies
  return policies.find(
    ({ metadata }) =>
      metadata.name === claim.policy.name &&
      (claim.scope !== namespacedPolicies || metadata.namespace === claim.policy.namespace),
  )
}

function challengerOf(
  template: AnyObject,
  policies: readonly PropagationPolicy[],
  claimant: PropagationPolicy,
): PropagationPolicy | undefined {
  return matchingPolicies(template, policies).find((policy) => mayPreempt(policy, claimant))
}

function isLiving({ metadata }: PropagationPolicy): boolean {
  return metadata.deletionTimestamp === undefined
}
