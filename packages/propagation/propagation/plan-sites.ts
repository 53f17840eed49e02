import { messageOf } from '@skerry/base'
import type { AnyObject } from '@skerry/api'
import type {
  ResourceBinding,
  TargetCluster,
  OverridePolicy,
  TenantRules,
  Work,
} from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'
import type { ResourceInterpreter } from '@skerry/interpreter'
import { withPreservedState } from '../failover/preserved-state.ts'
import type { BindingScope } from './binding-scope.ts'
import { targetsOf } from './binding-targets.ts'
import {
  dividedCompletions,
  overriddenManifest,
  sharedManifest,
  withCompletions,
} from './cluster-manifest.ts'
import type { PlannedSite, SiteFailure } from './hold-waves.ts'
import { plannedWork } from './plan-work.ts'

export interface SitesInput {
  readonly scope: BindingScope
  readonly binding: ResourceBinding
  /** The object as it is on the hub. */
  readonly template: AnyObject
  readonly policies: readonly OverridePolicy[]
  readonly rules?: TenantRules
  readonly interpreter: ResourceInterpreter
  /** Returns undefined if the cluster is no longer in the fleet: nothing is planned for it. */
  readonly clusterOf: (name: string) => Cluster | undefined
  /** The Work of this namespace and name by now. */
  readonly workOf: (work: Work) => Work | undefined
}

export interface SitesPlan {
  readonly sites: PlannedSite[]
  /** The clusters for which planning failed, with the reason: they keep their present objects. */
  readonly failures: SiteFailure[]
}

/** Plans the Work of each cluster of a binding, next to the one that is written now. */
export async function planSites(input: SitesInput, signal: AbortSignal): Promise<SitesPlan> {
  const plan: SitesPlan = { sites: [], failures: [] }
  const { binding, template } = input
  const targets = targetsOf(binding.spec)
  const completions = dividedCompletions(template, binding.spec, targets)
  for (const target of targets) {
    const cluster = input.clusterOf(target.name)
    if (cluster === undefined) continue
    try {
      const share = { target, cluster, completions: completions?.get(target.name) }
      const planned = await planSite(input, share, signal)
      plan.sites.push({ cluster, planned, known: input.workOf(planned) })
    } catch (error) {
      signal.throwIfAborted()
      const why = messageOf(error)
      plan.failures.push({ cluster, why })
    }
  }
  return plan
}

interface Share {
  readonly target: TargetCluster
  readonly cluster: Cluster
  readonly completions: number | undefined
}

async function planSite(
  { scope, binding, template, interpreter, ...input }: SitesInput,
  { target, cluster, completions }: Share,
  signal: AbortSignal,
): Promise<Work> {
  const { spec } = binding
  const shared = await sharedManifest(template, { spec, target }, interpreter, signal)
  const divided = withCompletions(shared, completions)
  const { manifest, overrides } = overriddenManifest(divided, cluster, input)
  return plannedWork({
    scope,
    binding,
    template,
    manifest: withPreservedState(await interpreter.prune(manifest, signal), spec, target.name),
    cluster: target.name,
    overrides,
  })
}
