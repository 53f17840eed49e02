import type { PodSpec, PodTemplateSpec } from '@skerry/api'
import type { Loose } from '../typed-strategy.ts'
import { applyContainerDefaults } from './container-defaults.ts'
import { applyVolumeDefaults } from './volume-defaults.ts'

/** Sets the defaults that a pod and a pod template share; pod-defaults.ts adds those of pods. */
export function applyPodSpecDefaults(spec: Loose<PodSpec>): void {
  spec.dnsPolicy ||= 'ClusterFirst'
  spec.restartPolicy ||= 'Always'
  spec.securityContext ??= {}
  spec.terminationGracePeriodSeconds ??= 30
  spec.schedulerName ||= 'default-scheduler'
  syncServiceAccountNames(spec)
  for (const volume of spec.volumes ?? []) applyVolumeDefaults(volume)
  for (const container of spec.initContainers ?? []) applyContainerDefaults(container)
  for (const container of spec.containers ?? []) applyContainerDefaults(container)
  for (const container of spec.ephemeralContainers ?? []) applyContainerDefaults(container)
}

export function applyPodTemplateDefaults(template: Loose<PodTemplateSpec>): void {
  template.metadata ??= {}
  template.spec ??= {}
  applyPodSpecDefaults(template.spec)
}

/** `serviceAccount` is the old name of the field and always has the same value. */
function syncServiceAccountNames(spec: Loose<PodSpec>): void {
  const name = spec.serviceAccountName || spec.serviceAccount
  if (!name) return
  spec.serviceAccountName = name
  spec.serviceAccount = name
}
