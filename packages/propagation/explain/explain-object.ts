import type { AnyObject } from '@skerry/api'
import {
  bindingConditions,
  wavesOf,
  type OverridePolicy,
  type PropagationPolicy,
  type ResourceBinding,
} from '@skerry/karmada-kinds'
import { conditionOf, type Cluster } from '@skerry/fleet-kinds'
import { isClaimedBy } from '../propagation/claim.ts'
import { rolloutPlans } from '../propagation/hold-waves.ts'
import type { SitesPlan } from '../propagation/plan-sites.ts'
import type { WavePlan } from '../waves/plan-waves.ts'
import { explainClaim } from './explain-claim.ts'
import { explainCluster } from './explain-cluster.ts'
import { explainPlacement } from './explain-placement.ts'
import type { Explanation } from './explanation.ts'

/** The facts of an explanation, all read at one time. */
export interface ExplainFacts {
  readonly template: AnyObject
  /** The policies of the object's namespace, and cluster-scoped ones. */
  readonly policies: readonly PropagationPolicy[]
  readonly overridePolicies: readonly OverridePolicy[]
  /** Undefined while no policy has claimed the object. */
  readonly binding?: ResourceBinding | undefined
  /** The bindings of its namespace, for an object with affinity or anti-affinity to others. */
  readonly others?: readonly ResourceBinding[]
  readonly clusters: readonly Cluster[]
  /** The planned Works of the binding's clusters. */
  readonly plan: SitesPlan
}

/** Explains an object. Pure: it makes the same decisions as the controllers, from the same facts. */
export function explainObject(facts: ExplainFacts): Explanation {
  const { template, binding, clusters } = facts
  const { namespace, name = '' } = template.metadata
  const scheduled = conditionOf(binding?.status?.conditions, bindingConditions.scheduled)
  const waves = wavesNow(facts)
  const placement = explainPlacement(facts)
  return {
    object: {
      apiVersion: template.apiVersion,
      kind: template.kind,
      ...(namespace ? { namespace } : {}),
      name,
    },
    claim: explainClaim(facts),
    ...(scheduled
      ? {
          scheduled: {
            status: scheduled.status,
            reason: scheduled.reason,
            message: scheduled.message,
          },
        }
      : {}),
    waves: waves.map(({ sites, name: wave, isOpen, well, needed }) => ({
      name: wave,
      isOpen,
      well,
      needed,
      clusters: sites.map((site) => site.name),
    })),
    clusters: clusters
      .toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
      .map((cluster) => explainCluster({ facts, cluster, waves, placement })),
  }
}

/** Returns no waves if there are none or they are invalid; an event then reports that. */
function wavesNow({ template, policies, binding, plan }: ExplainFacts): WavePlan[] {
  const policy = binding && policies.find((each) => isClaimedBy(binding, each))
  if (binding === undefined || policy === undefined) return []
  try {
    const waves = wavesOf(policy)
    return waves ? rolloutPlans({ binding, template, ...plan }, waves) : []
  } catch (error) {
    if (error instanceof RangeError) return []
    throw error
  }
}
