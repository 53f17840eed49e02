import type { PodAffinityTerm, PodSpec, WeightedPodAffinityTerm } from '@skerry/api'
import {
  adviceOnNodeLabel,
  warningsOfNodeTerms,
  warningsOfTermValues,
} from '../../node-label-warnings.ts'
import type { Loose } from '../../typed-strategy.ts'

const matchesNone = 'a null labelSelector results in matching no pod'

export function warningsOfPlacement(spec: Loose<PodSpec>, path: string): string[] {
  const warnings: string[] = []
  for (const key of Object.keys(spec.nodeSelector ?? {})) {
    const advice = adviceOnNodeLabel(key)
    if (advice) warnings.push(`${path}.nodeSelector[${key}]: ${advice}`)
  }
  warnings.push(...warningsOfNodeAffinity(spec, `${path}.affinity.nodeAffinity`))
  for (const [at, constraint] of (spec.topologySpreadConstraints ?? []).entries()) {
    const field = `${path}.topologySpreadConstraints[${at}]`
    const { topologyKey = '' } = constraint
    const advice = adviceOnNodeLabel(topologyKey)
    if (advice) warnings.push(`${field}.topologyKey: ${topologyKey} is ${advice}`)
    if (!constraint.labelSelector) warnings.push(`${field}.labelSelector: ${matchesNone}`)
  }
  return warnings
}

function warningsOfNodeAffinity({ affinity }: Loose<PodSpec>, path: string): string[] {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required,
    preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
  } = affinity?.nodeAffinity ?? {}
  const requiredPath = `${path}.requiredDuringSchedulingIgnoredDuringExecution`
  const preferredPath = `${path}.preferredDuringSchedulingIgnoredDuringExecution`
  return [
    ...warningsOfNodeTerms(required?.nodeSelectorTerms, `${requiredPath}.nodeSelectorTerms`),
    ...preferred.flatMap(({ preference = {} }, at) =>
      warningsOfTermValues(preference, `${preferredPath}[${at}].preference`),
    ),
  ]
}

export function warningsOfPodTerms({ affinity }: Loose<PodSpec>, path: string): string[] {
  return (['podAffinity', 'podAntiAffinity'] as const).flatMap((side) => {
    const {
      requiredDuringSchedulingIgnoredDuringExecution: required = [],
      preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
    } = affinity?.[side] ?? {}
    const field = `${path}.affinity.${side}`
    return [
      ...warningsOfRequired(required, `${field}.requiredDuringSchedulingIgnoredDuringExecution`),
      ...warningsOfPreferred(preferred, `${field}.preferredDuringSchedulingIgnoredDuringExecution`),
    ]
  })
}

function warningsOfRequired(terms: readonly Loose<PodAffinityTerm>[], field: string): string[] {
  return terms.flatMap(({ labelSelector }, at) =>
    labelSelector ? [] : [`${field}[${at}].labelSelector: ${matchesNone}`],
  )
}

function warningsOfPreferred(
  terms: readonly Loose<WeightedPodAffinityTerm>[],
  field: string,
): string[] {
  return terms.flatMap(({ podAffinityTerm }, at) =>
    podAffinityTerm?.labelSelector
      ? []
      : [`${field}[${at}].podAffinityTerm.labelSelector: ${matchesNone}`],
  )
}
