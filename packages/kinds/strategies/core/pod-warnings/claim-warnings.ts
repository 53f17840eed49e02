import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '@skerry/api'
import type { Loose, LooseObject } from '../../typed-strategy.ts'
import { warningsOfByteAmounts } from './byte-warnings.ts'

export const classAnnotation = 'volume.beta.kubernetes.io/storage-class'
export const classAnnotationAdvice =
  'deprecated since v1.8; use "storageClassName" attribute instead'

export function warningsOfClaim(claim: LooseObject<PersistentVolumeClaim>): string[] {
  const isNamed = classAnnotation in (claim.metadata.annotations ?? {})
  return [
    ...(isNamed ? [`metadata.annotations[${classAnnotation}]: ${classAnnotationAdvice}`] : []),
    ...warningsOfClaimSpec(claim.spec ?? {}, 'spec'),
  ]
}

export function warningsOfClaimSpec(
  { resources }: Loose<PersistentVolumeClaimSpec>,
  path: string,
): string[] {
  return (['requests', 'limits'] as const).flatMap((side) =>
    warningsOfByteAmounts(resources?.[side], ['storage'], `${path}.resources.${side}`),
  )
}
