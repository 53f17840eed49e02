import type { AnyObject } from '@skerry/api'
import type { ControllerContext } from '@skerry/controller-runtime'
import {
  clusterOverridePolicyResource,
  overridePolicyResource,
  type BindingSpec,
  type OverridePolicy,
  type TargetCluster,
  type TenantRules,
} from '@skerry/karmada-kinds'
import { clusterResource, numberAt, withField, type Cluster } from '@skerry/fleet-kinds'
import type { ResourceInterpreter } from '@skerry/interpreter'
import { appliedOverrideAnnotations } from '../overrides/applied-overrides.ts'
import { overrideObject } from '../overrides/override-object.ts'
import { divideSeats } from '../placement/divide-seats.ts'
import { isWorkload } from './binding-targets.ts'

/** An object as one cluster should have it, with the annotations that list its overrides. */
export interface ClusterManifest {
  readonly manifest: AnyObject
  readonly overrides: Readonly<Record<string, string>>
}

/** Resolves with the object and its share of the replicas. Rejects as the kind's interpreter does. */
export async function sharedManifest(
  template: AnyObject,
  { spec, target }: { spec: BindingSpec; target: TargetCluster },
  interpreter: ResourceInterpreter,
  signal: AbortSignal,
): Promise<AnyObject> {
  if (!isWorkload(spec) || !interpreter.knows(template, 'ReviseReplica')) return template
  return interpreter.reviseReplica(template, target.replicas ?? 0, signal)
}

/**
 * Divides a Job's completions among the clusters in proportion to their replicas, so that all take about as
 * long. Returns undefined if the object has none to divide.
 */
export function dividedCompletions(
  template: AnyObject,
  { replicas = 0, placement }: BindingSpec,
  targets: readonly TargetCluster[],
): ReadonlyMap<string, number> | undefined {
  const isDivided = placement?.replicaScheduling?.replicaSchedulingType === 'Divided'
  if (template.kind !== 'Job' || replicas <= 0 || !isDivided) return undefined
  const completions = numberAt(template, ...completionsPath)
  const parties = targets.map((target) => ({ name: target.name, votes: target.replicas ?? 0 }))
  if (completions === undefined || parties.every(({ votes }) => votes === 0)) return undefined
  const seats = divideSeats(completions, parties, template.metadata.uid)
  return new Map(seats.map((seat) => [seat.name, seat.replicas ?? 0]))
}

const completionsPath = ['spec', 'completions']

export function withCompletions(manifest: AnyObject, completions: number | undefined): AnyObject {
  return completions === undefined ? manifest : withField(manifest, completionsPath, completions)
}

/** Throws OverrideError where a policy cannot be carried out. */
export function overriddenManifest(
  manifest: AnyObject,
  cluster: Cluster,
  { policies, rules }: { policies: readonly OverridePolicy[]; rules?: TenantRules },
): ClusterManifest {
  const input = { cluster, policies, ...(rules ? { rules } : {}) }
  const { object, applied } = overrideObject(manifest, input)
  return { manifest: object, overrides: appliedOverrideAnnotations(applied) }
}

/** Returns the policies of the object's namespace, and cluster-scoped ones. */
export function overridePoliciesFor(
  { metadata }: AnyObject,
  context: ControllerContext,
): OverridePolicy[] {
  const { namespace } = metadata
  return [
    ...context.informer(clusterOverridePolicyResource).list(),
    ...(namespace ? context.informer(overridePolicyResource).list(namespace) : []),
  ]
}

/**
 * Returns undefined if the cluster is not in the fleet, or is leaving it: then nothing is sent there, nor
 * deleted there.
 */
export function memberCluster(name: string, context: ControllerContext): Cluster | undefined {
  const cluster = context.informer(clusterResource).get({ name })
  return cluster?.metadata.deletionTimestamp ? undefined : cluster
}
