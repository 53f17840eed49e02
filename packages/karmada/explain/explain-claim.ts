import type { AnyObject } from '@skerry/api'
import { explicitPriority, highestSelectorRank, matchingPolicies } from '../policy/choose-policy.ts'
import type { PropagationPolicy } from '../policy/propagation-policy.ts'
import { claimOf, isClaimedBy } from '../propagation/claim.ts'
import type { ClaimExplanation, PolicyName } from './explanation.ts'

/** Whose an object is, and which other policies select it. Pure. */
export function explainClaim(
  template: AnyObject,
  policies: readonly PropagationPolicy[],
): ClaimExplanation {
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
    return { policy: nameOf(claimant), why: whyClaimed(claimant, matching), others }
  }
  const others = rivals.map((policy) => ({
    policy: nameOf(policy),
    why: 'it selects the object, and has not claimed it yet',
  }))
  return { why: whyNobody(template, rivals), others }
}

function whyNobody(template: AnyObject, rivals: readonly PropagationPolicy[]): string {
  if (claimOf(template)) return 'the policy that has claimed it is gone'
  if (rivals.length > 0) return 'no policy has claimed it yet'
  return 'no policy selects it: it stays on the hub'
}

function whyClaimed(claimant: PropagationPolicy, matching: readonly PropagationPolicy[]): string {
  if (!matching.includes(claimant)) {
    return 'it has claimed the object, and selects it no more: what it placed stays'
  }
  if (matching.length === 1) return 'it alone selects the object'
  return matching[0] === claimant
    ? 'of those that select the object it comes first'
    : 'it claimed the object before the others, and keeps it until one preempts it'
}

/** As `matchingPolicies` orders them. */
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

export function nameOf({ metadata }: PropagationPolicy): PolicyName {
  const { namespace, name = '' } = metadata
  if (namespace === undefined) return { kind: 'ClusterPropagationPolicy', name }
  return { kind: 'PropagationPolicy', namespace, name }
}
