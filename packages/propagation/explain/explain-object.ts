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

/** All that an explanation follows from, at one time. */
export interface ExplainFacts {
  readonly template: AnyObject
  /** Of the object's namespace, and of all. */
  readonly policies: readonly PropagationPolicy[]
  readonly overridePolicies: readonly OverridePolicy[]
  /** Absent while nobody has claimed the object. */
  readonly binding?: ResourceBinding | undefined
  /** Of an object that is to be near others, or apart: the bindings of its namespace. */
  readonly others?: readonly ResourceBinding[]
  readonly clusters: readonly Cluster[]
  /** What each of the binding's clusters is to have. */
  readonly plan: SitesPlan
}

/** Pure: the same decisions as the controllers', from the same facts. */
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

/** Empty without waves, or with waves that nobody can read: then an event says so. */
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
