import type { WarnedPod } from './warned-pod.ts'

const oldAnnotations: readonly (readonly [key: string, advice: string])[] = [
  [
    'scheduler.alpha.kubernetes.io/critical-pod',
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  ],
  [
    'security.alpha.kubernetes.io/sysctls',
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
  [
    'security.alpha.kubernetes.io/unsafe-sysctls',
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
]
const seccompKey = 'seccomp.security.alpha.kubernetes.io/pod'
export const seccompAdvice = 'non-functional in v1.27+; use the "seccompProfile" field instead'

export function warningsOfAnnotations({ metadata, metadataPath, spec }: WarnedPod): string[] {
  const { annotations = {} } = metadata
  const field = `${metadataPath}.annotations`
  const warnings = oldAnnotations.flatMap(([key, advice]) =>
    key in annotations ? [`${field}[${key}]: ${advice}`] : [],
  )
  if (seccompKey in annotations && !spec.securityContext?.seccompProfile) {
    warnings.push(`${field}[${seccompKey}]: ${seccompAdvice}`)
  }
  return warnings
}
