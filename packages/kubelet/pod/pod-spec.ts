import { createHash } from 'node:crypto'
import type { Container, EphemeralContainer, Pod, PodSpec } from '@skerry/api'

export type ContainerKind = 'init' | 'sidecar' | 'regular' | 'ephemeral'

export interface SpecContainer {
  readonly kind: ContainerKind
  readonly container: Container | EphemeralContainer
}

/** Returns the spec, which every pod from the API or a checked manifest has. */
export function specOf(pod: Pod): PodSpec {
  if (pod.spec) return pod.spec
  throw new TypeError(`Cannot run pod "${pod.metadata.name ?? ''}": it has no spec`)
}

/** Reports whether this is an init container that keeps running next to the others. */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always'
}

/** Lists the containers in the order of the spec: init and sidecar containers, regular ones, ephemeral ones. */
function containersOf(pod: Pod): SpecContainer[] {
  const spec = specOf(pod)
  return [
    ...(spec.initContainers ?? []).map((container) => ({
      kind: isSidecar(container) ? ('sidecar' as const) : ('init' as const),
      container,
    })),
    ...spec.containers.map((container) => ({ kind: 'regular' as const, container })),
    ...(spec.ephemeralContainers ?? []).map((container) => ({
      kind: 'ephemeral' as const,
      container,
    })),
  ]
}

export function findContainer(pod: Pod, name: string): SpecContainer | undefined {
  return containersOf(pod).find(({ container }) => container.name === name)
}

/**
 * Hashes the fields whose change requires a new container: only the image may change in place. A hash over
 * more would restart healthy containers when a newer API server fills in a default that an older one did not.
 */
export function containerSpecHash(container: Container | EphemeralContainer): string {
  const picked = JSON.stringify([container.name, container.image ?? ''])
  return createHash('sha256').update(picked).digest('hex').slice(0, 16)
}

export function isHostNetwork(pod: Pod): boolean {
  return specOf(pod).hostNetwork === true
}

/** Reports whether a container that exited with this code should start again (KEP-5307's rules come first). */
export function shouldRestart(
  container: Container | EphemeralContainer,
  spec: PodSpec,
  exitCode: number,
): boolean {
  for (const rule of container.restartPolicyRules ?? []) {
    const { operator, values = [] } = rule.exitCodes ?? { operator: '' }
    const isListed = values.includes(exitCode)
    if ((operator === 'In' && isListed) || (operator === 'NotIn' && !isListed)) {
      return rule.action === 'Restart' || rule.action === 'RestartAllContainers'
    }
  }
  switch (container.restartPolicy ?? spec.restartPolicy) {
    case 'Never':
      return false
    case 'OnFailure':
      return exitCode !== 0
    default:
      return true
  }
}

/** Formats `name_namespace(uid)`, as in kubelet's messages. */
export function describePod(pod: Pod): string {
  const { name, namespace, uid } = pod.metadata
  return `${name}_${namespace}(${uid})`
}

const gracePeriodSecondsDefault = 30

/** Returns the deletion's grace period, or else the spec's. */
export function gracePeriodSeconds(pod: Pod): number {
  return (
    pod.metadata.deletionGracePeriodSeconds ??
    specOf(pod).terminationGracePeriodSeconds ??
    gracePeriodSecondsDefault
  )
}
