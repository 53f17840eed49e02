import type { PersistentVolume } from '@skerry/api'
import { warningsOfNodeTerms } from '../node-label-warnings.ts'
import type { LooseObject } from '../typed-strategy.ts'
import { classAnnotation, classAnnotationAdvice } from './pod-warnings/claim-warnings.ts'
import { warningsOfVolumeSources } from './pod-warnings/old-volumes.ts'

const oldAnnotations: readonly (readonly [key: string, advice: string])[] = [
  [classAnnotation, classAnnotationAdvice],
  [
    'volume.beta.kubernetes.io/mount-options',
    'deprecated since v1.31; use "mountOptions" attribute instead',
  ],
]

export function warningsOfVolume({ metadata, spec = {} }: LooseObject<PersistentVolume>): string[] {
  const { annotations = {} } = metadata
  const warnings = oldAnnotations.flatMap(([key, advice]) =>
    key in annotations ? [`metadata.annotations[${key}]: ${advice}`] : [],
  )
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    const instead = 'Instead, the recommended approach is to use dynamic provisioning.'
    const what = `The Recycle reclaim policy is deprecated. ${instead}`
    warnings.push(`spec.persistentVolumeReclaimPolicy: ${what}`)
  }
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms
  warnings.push(
    ...warningsOfNodeTerms(terms, 'spec.nodeAffinity.required.nodeSelectorTerms'),
    ...warningsOfVolumeSources(withoutSilent(spec), 'spec'),
  )
  return warnings
}

/** Upstream does not warn of these in a persistent volume. */
function withoutSilent(spec: object): object {
  const silent = new Set(['flocker', 'quobyte'])
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !silent.has(name)))
}
