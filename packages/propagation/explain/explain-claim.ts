import type { AnyObject } from '@skerry/api'
import {
  explicitPriority,
  highestSelectorRank,
  matchingPolicies,
  type OverridePolicy,
  type PropagationPolicy,
  type ResourceBinding,
} from '@skerry/karmada-kinds'
import { claimOf, isClaimedBy } from '../propagation/claim.ts'
import { isSentAlong } from '../propagation/namespace-sync-controller.ts'
import type { ClaimExplanation, PolicyName } from './explanation.ts'

export interface ClaimFacts {
  readonly template: AnyObject
  /** The policies of the object's namespace, and cluster-scoped ones. */
  readonly policies: readonly PropagationPolicy[]
  readonly overridePolicies: readonly OverridePolicy[]
  readonly binding?: ResourceBinding | undefined
}

/** Explains which policy has claimed an object, and which others select it. Pure. */
export function explainClaim(facts: ClaimFacts): ClaimExplanation {
  const { template, policies } = facts
  const own = policies.filter(({ metadata }) => metadata.namespace !== undefined)
  const everywhere = policies.filter(({ metadata }) => metadata.namespace === undefined)
  const matching = [...matchingPolicies(template, own), ...matchingPolicies(template, everywhere)]
  const claimant = policies.find((policy) => isClaimedBy(template, policy))
  const rivals = matching.filter((policy) => policy !== claimant)
  if (claimant !== undefined) {
    const others = rivals.map((policy) => ({
      policy: nameOf(policy),
      why: whyNot(policy, claimant, template),
    }))
    const missing = missingOverrides(claimant, facts)
    const why = whyClaimed(claimant, matching)
    return {
      policy: nameOf(claimant),
      why: missing ? `${why}; nothing new goes out before ${missing} is there` : why,
      others,
    }
  }
  const others = rivals.map((policy) => {
    const missing = missingOverrides(policy, facts)
    const why = missing ? `waits for ${missing}, which is not there` : 'has not claimed it yet'
    return { policy: nameOf(policy), why: `it selects the object, and ${why}` }
  })
  return { why: whyNobody(facts, rivals), others }
}

function whyNobody(
  { template, binding }: ClaimFacts,
  rivals: readonly PropagationPolicy[],
): string {
  if (claimOf(template)) return 'the policy that has claimed it is gone'
  if (rivals.length > 0) return 'no policy has claimed it yet'
  const { requiredBy = [], clusters = [] } = binding?.spec ?? {}
  if (requiredBy.length > 0)
    return 'no policy selects it: it goes along with the objects that need it'
  if (clusters.length > 0) return 'no policy selects it any more: its copies stay'
  return isSentAlong(template)
    ? 'no policy selects it: it is made wherever its contents go'
    : 'no policy selects it: it stays on the hub'
}

/**
 * Names the missing ones of the override policies without which a policy sends nothing; an empty string if
 * all exist.
 */
function missingOverrides(policy: PropagationPolicy, { overridePolicies }: ClaimFacts): string {
  const { dependentOverrides = [] } = policy.spec
  const missing = dependentOverrides.filter(
    (name) =>
      !overridePolicies.some(
        ({ metadata }) =>
          metadata.name === name && metadata.namespace === policy.metadata.namespace,
      ),
  )
  return missing.length === 0 ? '' : `override policy "${missing.join('", "')}"`
}

function whyClaimed(claimant: PropagationPolicy, matching: readonly PropagationPolicy[]): string {
  if (!matching.includes(claimant)) {
    return 'it has claimed the object and no longer selects it: the copies that it placed stay'
  }
  if (matching.length === 1) return 'it alone selects the object'
  return matching[0] === claimant
    ? 'it comes first among those that select the object'
    : 'it claimed the object before the others, and keeps it until one preempts it'
}

/** Compares in the order of `matchingPolicies`. */
function whyNot(loser: PropagationPolicy, winner: PropagationPolicy, template: AnyObject): string {
  const isNamespaced = (policy: PropagationPolicy) => policy.metadata.namespace !== undefined
  if (isNamespaced(winner) !== isNamespaced(loser)) {
    return isNamespaced(winner)
      ? 'a policy of the namespace comes before those of the whole fleet'
      : whyNotPreempting(loser)
  }
  const [lost, won] = [explicitPriority(loser), explicitPriority(winner)]
  if (lost < won) return `its priority ${lost} is lower than ${won}`
  if (lost > won) return whyNotPreempting(loser)
  const rank = (policy: PropagationPolicy) =>
    highestSelectorRank(template, policy.spec.resourceSelectors)
  if (rank(loser) < rank(winner)) return 'it selects the object less closely'
  if (rank(loser) > rank(winner))
    return `the object was claimed before, and only a higher priority preempts`
  return 'its name comes later'
}

function whyNotPreempting({ spec }: PropagationPolicy): string {
  return spec.preemption === 'Always'
    ? 'it may preempt the claim, and has not done so yet'
    : 'the object was claimed before, and it does not preempt (spec.preemption: Always)'
}

function nameOf({ metadata }: PropagationPolicy): PolicyName {
  const { namespace, name = '' } = metadata
  if (namespace === undefined) return { kind: 'ClusterPropagationPolicy', name }
  return { kind: 'PropagationPolicy', namespace, name }
}
