import {
  appliesWorksAnnotation,
  conditionOf,
  conditionTypes,
  type Cluster,
} from '@skerry/fleet-kinds'
import { workConditions, type Work } from '@skerry/karmada-kinds'
import { OverrideError } from '../overrides/apply-overrides.ts'
import { overrideObject } from '../overrides/override-object.ts'
import { isSuspendedOn, targetsOf } from '../propagation/binding-targets.ts'
import type { PlannedSite } from '../propagation/hold-waves.ts'
import type { WavePlan } from '../waves/plan-waves.ts'
import type { ExplainFacts } from './explain-object.ts'
import type { WhyNotPlaced } from './explain-placement.ts'
import type { ClusterExplanation, ClusterStanding } from './explanation.ts'

interface ClusterInput {
  readonly facts: ExplainFacts
  readonly cluster: Cluster
  readonly waves: readonly WavePlan[]
  readonly placement: WhyNotPlaced
}

type Standing = Pick<ClusterExplanation, 'standing' | 'why'>

export function explainCluster(input: ClusterInput): ClusterExplanation {
  const { facts, cluster, placement } = input
  const { name = '' } = cluster.metadata
  const { binding } = facts
  const target = binding && targetsOf(binding.spec).find((each) => each.name === name)
  if (binding === undefined || target === undefined) {
    const why = [...leavingOf(facts, name), placement(name)]
    return { name, standing: 'NotPlaced', why, overrides: [] }
  }
  const needing = (binding.spec.requiredBy ?? [])
    .filter(({ clusters = [] }) => clusters.some((each) => each.name === name))
    .map((each) => `Needed there by ${each.namespace ? `${each.namespace}/` : ''}${each.name}.`)
  const { standing, why } = standingOf(input, name)
  return {
    name,
    standing,
    ...(target.replicas === undefined ? {} : { replicas: target.replicas }),
    why: [...needing, ...why],
    overrides: overridesFor(facts, cluster),
  }
}

/** Explains the eviction task of a cluster that the object is leaving. */
function leavingOf({ binding }: ExplainFacts, name: string): string[] {
  const task = binding?.spec.gracefulEvictionTasks?.find((each) => each.fromCluster === name)
  if (task === undefined) return []
  const { reason, producer, message } = task
  const more = message ? `: ${message}` : ''
  return [`It leaves, and another cluster takes over (${reason}, by ${producer}${more}).`]
}

/** The first thing that holds it up; or how the object is there. */
function standingOf({ facts, cluster, waves }: ClusterInput, name: string): Standing {
  const { binding, plan } = facts
  const failure = plan.failures.find((each) => each.cluster.metadata.name === name)
  if (failure) return told('Failed', `It cannot be made for this cluster: ${failure.why}`)
  const site = plan.sites.find((each) => each.cluster.metadata.name === name)
  if (cluster.metadata.annotations?.[appliesWorksAnnotation] === 'false') {
    return told('Failed', 'Its agent applies no Works: start it with --apply-works.')
  }
  const wave = waves.find(
    ({ sites, isOpen }) => !isOpen && sites.some((each) => each.name === name),
  )
  if (wave && site && !isCurrent(site, waves, name)) return held(wave, waves, site.known)
  if (site?.known === undefined) return told('Waiting', 'Its Work is not written yet.')
  if (binding && isSuspendedOn(binding.spec, name)) {
    return told('Suspended', 'The policy has suspended dispatching to it.')
  }
  return awayOf(cluster) ?? appliedOf(site.known)
}

function isCurrent(site: PlannedSite, waves: readonly WavePlan[], name: string): boolean {
  const found = waves.flatMap(({ sites }) => sites).find((each) => each.name === name)
  return site.known !== undefined && found?.isCurrent === true
}

function held(wave: WavePlan, waves: readonly WavePlan[], known: Work | undefined): Standing {
  const before = waves.find(({ isOpen, well, needed }) => isOpen && well < needed)
  const until = before
    ? `until ${before.needed} of wave "${before.name}" are healthy (${before.well} are)`
    : 'until the waves before it are healthy'
  const keeps = known ? 'it keeps the object that it has' : 'it has none'
  return told('Held', `Wave "${wave.name}" has not opened: ${keeps} ${until}.`)
}

/** Returns undefined if the cluster is ready. */
function awayOf({ status }: Cluster): Standing | undefined {
  const ready = conditionOf(status?.conditions, conditionTypes.ready)
  if (ready?.status === 'True') return undefined
  const since = ready ? ` since ${ready.lastTransitionTime} (${ready.reason})` : ''
  return told('Away', `The cluster is away${since}: it gets the newest when it is back.`)
}

function appliedOf({ metadata, status }: Work): Standing {
  const applied = conditionOf(status?.conditions, workConditions.applied)
  const isOld =
    applied?.observedGeneration !== undefined && applied.observedGeneration !== metadata.generation
  if (applied === undefined || isOld) return told('Waiting', 'Its agent has not reported it yet.')
  if (applied.status !== 'True') return told('Failed', applied.message)
  const statuses = status?.manifestStatuses ?? []
  if (statuses.length === 0)
    return told('Waiting', 'It is applied; its status has not been reported yet.')
  const isHealthy = statuses.every(({ health }) => health === 'Healthy')
  return isHealthy
    ? { standing: 'Healthy', why: [] }
    : told('Unhealthy', 'It is applied, and not healthy.')
}

function told(standing: ClusterStanding, sentence: string): Standing {
  return { standing, why: [sentence] }
}

/** Returns the applied overrides, including those before one that fails. */
function overridesFor(
  { template, overridePolicies }: ExplainFacts,
  cluster: Cluster,
): ClusterExplanation['overrides'] {
  try {
    const { applied } = overrideObject(template, { cluster, policies: overridePolicies })
    return applied.map(({ overriders: _overriders, ...rest }) => rest)
  } catch (error) {
    if (error instanceof OverrideError) return []
    throw error
  }
}
