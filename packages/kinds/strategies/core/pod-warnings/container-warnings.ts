import {
  quoteGo,
  type Container,
  type EnvVar,
  type EphemeralContainer,
  type PodSpec,
} from '@skerry/api'
import { isSame } from '../../checks.ts'
import type { Loose } from '../../typed-strategy.ts'
import {
  appArmorAdvice,
  appArmorPrefix,
  appArmorProfileOf,
} from '../pod-spec-validation/app-armor.ts'
import { warningsOfByteAmounts } from './byte-warnings.ts'
import { seccompAdvice } from './annotation-warnings.ts'
import { byteResources, type WarnedPod } from './warned-pod.ts'

const seccompPrefix = 'container.seccomp.security.alpha.kubernetes.io/'

export interface PlacedContainer {
  readonly container: Loose<Container> | Loose<EphemeralContainer>
  readonly field: string
}

export function placedContainers(spec: Loose<PodSpec>, path: string): PlacedContainer[] {
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, at) => ({ container, field: `${path}.${list}[${at}]` })),
  )
}

export function warningsOfContainers(pod: WarnedPod): string[] {
  return placedContainers(pod.spec, pod.path).flatMap(({ container, field }) => {
    const { limits, requests } = container.resources ?? {}
    const sides = [
      ['limits', limits],
      ['requests', requests],
    ] as const
    return [
      ...warningsOfProfiles(container, pod),
      ...byteResources.flatMap((name) =>
        sides.flatMap(([side, amounts]) =>
          warningsOfByteAmounts(amounts, [name], `${field}.resources.${side}`),
        ),
      ),
      ...warningsOfEnv(container.env, `${field}.env`),
    ]
  })
}

function warningsOfProfiles(
  { name = '', securityContext }: PlacedContainer['container'],
  { metadata, metadataPath, spec, isTemplate }: WarnedPod,
): string[] {
  const { annotations = {} } = metadata
  const field = `${metadataPath}.annotations`
  const warnings: string[] = []
  if (`${seccompPrefix}${name}` in annotations && !securityContext?.seccompProfile) {
    warnings.push(`${field}[${seccompPrefix}${name}]: ${seccompAdvice}`)
  }
  const profile = annotations[`${appArmorPrefix}${name}`]
  if (!isTemplate || profile === undefined || securityContext?.appArmorProfile) return warnings
  const ofPod = spec.securityContext?.appArmorProfile
  if (!ofPod || !isSame(ofPod, appArmorProfileOf(profile))) {
    warnings.push(`${field}[${appArmorPrefix}${name}]: ${appArmorAdvice}`)
  }
  return warnings
}

/** A later value may extend an earlier one by `$(NAME)`; any other just replaces it. */
function warningsOfEnv(env: readonly Loose<EnvVar>[] = [], field: string): string[] {
  const seen = new Set<string>()
  return env.flatMap(({ name = '', value = '', valueFrom }, at) => {
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    const before = `$(${name})`
    if (!valueFrom && value !== before && value.includes(before)) return []
    const what = `hides previous definition of ${quoteGo(name)}`
    return [`${field}[${at}]: ${what}, which may be dropped when using apply`]
  })
}
