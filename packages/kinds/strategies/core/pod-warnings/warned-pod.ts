import type { PodSpec, ObjectMeta } from '@skerry/api'
import type { Loose } from '../../typed-strategy.ts'

/** A pod or a pod template, for the checks that warn. */
export interface WarnedPod {
  readonly spec: Loose<PodSpec>
  readonly metadata: Loose<ObjectMeta>
  /** `spec`, or in a template `spec.template.spec`. */
  readonly path: string
  readonly metadataPath: string
  readonly isTemplate: boolean
}

export const byteResources: readonly string[] = ['memory', 'ephemeral-storage']
