import type { Container, Pod } from '@skerry/api'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { applyPodLevelDefaults } from './pod-spec-validation/pod-level-resources.ts'
import { applyPodSpecDefaults } from './pod-spec-defaults.ts'
import { addMissingAmounts } from './pod-spec-validation/resource-list.ts'

export function applyPodDefaults(pod: LooseObject<Pod>): void {
  pod.spec ??= {}
  pod.status ??= {}
  const { spec } = pod
  spec.enableServiceLinks ??= true
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    requestWhatIsLimited(container)
    if (spec.hostNetwork) bindPortsOnHost(container)
  }
  applyPodLevelDefaults(spec)
  applyPodSpecDefaults(spec)
  // For pods only; a template keeps its value.
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1
}

function requestWhatIsLimited(container: Loose<Container>): void {
  const limits = container.resources?.limits
  if (!container.resources || !limits) return
  container.resources.requests ??= {}
  addMissingAmounts(container.resources.requests, limits)
}

function bindPortsOnHost(container: Loose<Container>): void {
  for (const port of container.ports ?? []) {
    if (!port.hostPort && port.containerPort) port.hostPort = port.containerPort
  }
}
