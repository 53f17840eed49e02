import type { AnyObject } from '@skerry/api'
import { keyOfObject } from '@skerry/client'
import type { ControllerContext } from '@skerry/controller-runtime'
import {
  karmadaKeys,
  manifestsOf,
  waveKeys,
  wavesOf,
  workConditions,
  type ResourceBinding,
  type Waves,
  type Work,
} from '@skerry/karmada-kinds'
import { conditionOf, conditionTypes, numberAt, type Cluster } from '@skerry/fleet-kinds'
import { appliedOverrideKeys } from '../overrides/applied-overrides.ts'
import { heldSites, planWaves, type WavePlan, type WaveSite } from '../waves/plan-waves.ts'
import { bindingScopeOf } from './binding-scope.ts'
import { isSuspendedOn, targetsOf } from './binding-targets.ts'
import { claimOf } from './claim.ts'
import { memberCluster } from './cluster-manifest.ts'
import { workPatch } from './plan-work.ts'
import { clusterOfWork, worksOf } from './write-work.ts'

/** The newest Work for one cluster, and the one that is written now. */
export interface PlannedSite {
  readonly cluster: Cluster
  readonly planned: Work
  readonly known: Work | undefined
}

/** A cluster for which nothing can be made, and why. */
export interface SiteFailure {
  readonly cluster: Cluster
  readonly why: string
}

export interface Rollout {
  readonly binding: ResourceBinding
  /** The object as it is on the hub. */
  readonly template: AnyObject
  readonly sites: readonly PlannedSite[]
  /** Clusters whose Work could not be planned. Waves wait for them as for one that could not apply it. */
  readonly failures: readonly SiteFailure[]
}

/** The waves of the policy that has claimed a binding's object. Throws as `wavesOf` does. */
export function wavesFor(binding: ResourceBinding, context: ControllerContext): Waves | undefined {
  const claim = claimOf(binding)
  const policy = claim && context.informer(claim.scope.resource).get(claim.policy)
  return policy && wavesOf(policy)
}

/**
 * Reports whether the health and presence of the clusters matter to a binding. Returns true for invalid
 * waves.
 */
export function goesInWaves(
  binding: ResourceBinding | undefined,
  context: ControllerContext,
): boolean {
  const claim = binding && claimOf(binding)
  const policy = claim && context.informer(claim.scope.resource).get(claim.policy)
  return policy?.metadata.annotations?.[waveKeys.waves] !== undefined
}

/**
 * Returns the Works to write. A cluster whose wave has not opened keeps its present object; suspension and
 * the like reach it at once. Pure.
 */
export function openWorks(rollout: Rollout, waves: Waves | undefined): Work[] {
  if (waves === undefined) return rollout.sites.map(({ planned }) => planned)
  const held = heldSites(rolloutPlans(rollout, waves))
  return rollout.sites.flatMap(({ cluster, planned, known }) => {
    if (!held.has(cluster.metadata.name ?? '')) return [planned]
    return known ? [heldWork(planned, known)] : []
  })
}

export function rolloutPlans(rollout: Rollout, waves: Waves): WavePlan[] {
  const { binding, template, sites, failures } = rollout
  return planWaves(waves, [
    ...sites.map(({ cluster, planned, known }) => ({
      ...waveSite(cluster, binding),
      isCurrent: known !== undefined && workPatch(known, planned) === undefined,
      isWell: known !== undefined && isWell(known, template),
    })),
    ...failures.map(({ cluster }) => ({
      ...waveSite(cluster, binding),
      isCurrent: false,
      isWell: false,
    })),
  ])
}

function waveSite(
  { metadata, status }: Cluster,
  { spec }: ResourceBinding,
): Pick<WaveSite, 'name' | 'labels' | 'isPresent'> {
  const { name = '', labels } = metadata
  const ready = conditionOf(status?.conditions, conditionTypes.ready)
  return { name, labels, isPresent: ready?.status === 'True' && !isSuspendedOn(spec, name) }
}

/** The status must be for the written version: an agent reports the generation of the Work that it applied. */
function isWell({ metadata, status }: Work, template: AnyObject): boolean {
  const applied = conditionOf(status?.conditions, workConditions.applied)
  if (applied?.status !== 'True') return false
  if ((applied.observedGeneration ?? metadata.generation) !== metadata.generation) return false
  const { generation = 0 } = template.metadata
  const statuses = status?.manifestStatuses ?? []
  return (
    statuses.length > 0 &&
    statuses.every(
      (each) =>
        each.health === 'Healthy' &&
        (numberAt(each.status, 'resourceTemplateGeneration') ?? generation) >= generation,
    )
  )
}

/** Reports whether no cluster waits for its wave any more: each has been sent the object as it is on the hub. */
export function hasEverywhere(
  { binding, template }: Pick<Rollout, 'binding' | 'template'>,
  context: ControllerContext,
): boolean {
  if (!goesInWaves(binding, context)) return true
  const scope = bindingScopeOf(binding.metadata.namespace)
  const works = worksOf(scope, keyOfObject(binding), context)
  const sent = new Set(works.filter((work) => isOfNewest(work, template)).map(clusterOfWork))
  return targetsOf(binding.spec).every(
    ({ name }) => sent.has(name) || memberCluster(name, context) === undefined,
  )
}

function isOfNewest(work: Work, { metadata }: AnyObject): boolean {
  const { generation = 0 } = metadata
  const [manifest] = manifestsOf(work)
  const sent = manifest?.metadata.annotations?.[karmadaKeys.templateGeneration]
  return generation === 0 || Number(sent) >= generation
}

function heldWork(planned: Work, known: Work): Work {
  const own: readonly string[] = Object.values(appliedOverrideKeys)
  const keep = (annotations: Readonly<Record<string, string>> = {}, isOwn: boolean) =>
    Object.entries(annotations).filter(([key]) => own.includes(key) === isOwn)
  const annotations = Object.fromEntries([
    ...keep(planned.metadata.annotations, false),
    ...keep(known.metadata.annotations, true),
  ])
  const { workload } = known.spec
  return {
    ...planned,
    metadata: { ...planned.metadata, annotations },
    spec: { ...planned.spec, ...(workload ? { workload } : {}) },
  }
}
