import type { ResourceBinding } from '@skerry/karmada-kinds'
import {
  needsPlacement,
  placeBinding,
  placementAnnotation,
  type PlacementResult,
} from '@skerry/propagation'
import type { Outcome } from './corpus.ts'
import type { World } from './world.ts'

/** The outcome, with the reason for each cluster that did not fit. */
export interface OurOutcome extends Outcome {
  readonly diagnosis: PlacementResult['diagnosis']
}

/**
 * The maximum number of placements until nothing changes. A scheduler looks again after its first placement
 * is written.
 */
const looksMax = 5

export function playOurs({ clusters, bindings }: World): Map<string, OurOutcome> {
  return new Map(
    bindings.map((binding) => [
      binding.metadata.name ?? '',
      binding.spec.suspension?.scheduling
        ? { clusters: targetsText(binding), reason: '', message: '', diagnosis: [] }
        : placeUntilAtRest(binding, clusters, bindings),
    ]),
  )
}

function placeUntilAtRest(
  first: ResourceBinding,
  clusters: World['clusters'],
  others: World['bindings'],
): OurOutcome {
  let binding = first
  let result: PlacementResult | undefined
  for (let look = 0; look < looksMax && needsPlacement(binding, clusters); look += 1) {
    const { spec, status = {} } = binding
    result = placeBinding({ spec, status, clusters, others })
    binding = placed(binding, result)
  }
  return {
    clusters: targetsText(binding),
    reason: result?.reason ?? '',
    message: result?.message ?? '',
    ...named(binding),
    diagnosis: result?.diagnosis ?? [],
  }
}

function placed(binding: ResourceBinding, result: PlacementResult): ResourceBinding {
  const { metadata, spec, status } = binding
  if (result.clusters === undefined) return binding
  const annotations = { [placementAnnotation]: JSON.stringify(spec.placement) }
  const isPlaced = result.reason === 'Success'
  const { affinityName } = result
  return {
    ...binding,
    metadata: { ...metadata, annotations },
    spec: { ...spec, clusters: [...result.clusters] },
    status: {
      ...status,
      ...(isPlaced ? { lastScheduledTime: '2026-01-01T00:00:00Z' } : {}),
      ...(affinityName === undefined ? {} : { schedulerObservingAffinityName: affinityName }),
    },
  }
}

export function targetsText({ spec }: ResourceBinding): string {
  return (spec.clusters ?? []).map(({ name, replicas = 0 }) => `${name}:${replicas}`).join(' ')
}

export function named({ status }: ResourceBinding): { affinityName?: string } {
  const affinityName = status?.schedulerObservingAffinityName
  return affinityName === undefined ? {} : { affinityName }
}
