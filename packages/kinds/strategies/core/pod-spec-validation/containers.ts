import {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotFound,
  fieldRequired,
  type Container,
  type EphemeralContainer,
  type PodSpec,
} from '@skerry/api'
import type { Found } from '../../checks.ts'
import type { Loose } from '../../typed-strategy.ts'
import { checkContainer, checkRestartRules, type PodFacts } from './container.ts'
import { checkLifecycle, checkProbes } from './handlers.ts'

export function checkContainers(
  containers: readonly Loose<Container>[],
  pod: PodFacts,
  field: string,
  found: Found,
): void {
  if (containers.length === 0) found.push(fieldRequired(field))
  const names = new Set<string>()
  for (const [at, container] of containers.entries()) {
    const path = `${field}[${at}]`
    checkContainer(container, pod, path, found)
    const { name = '' } = container
    if (names.has(name)) found.push(fieldDuplicate(`${path}.name`, name))
    names.add(name)
    checkLifecycle(container.lifecycle, pod.gracePeriod, `${path}.lifecycle`, found)
    checkProbes(container, pod.gracePeriod, path, found)
    checkRestartRules(container, path, found)
  }
  checkHostPorts(containers, field, found)
}

/** Two containers may not claim the same port of the node. */
function checkHostPorts(
  containers: readonly Loose<Container>[],
  field: string,
  found: Found,
): void {
  const seen = new Set<string>()
  for (const [at, container] of containers.entries()) {
    for (const [index, port] of (container.ports ?? []).entries()) {
      if (!port.hostPort) continue
      const claim = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${port.hostPort}`
      if (seen.has(claim)) {
        found.push(fieldDuplicate(`${field}[${at}].ports[${index}].hostPort`, claim))
      }
      seen.add(claim)
    }
  }
}

export function checkInitContainers(
  spec: Loose<PodSpec>,
  pod: PodFacts,
  field: string,
  found: Found,
): void {
  const names = new Set((spec.containers ?? []).map(({ name = '' }) => name))
  for (const [at, container] of (spec.initContainers ?? []).entries()) {
    const path = `${field}[${at}]`
    checkContainer(container, pod, path, found)
    checkRestartRules(container, path, found)
    const { name = '' } = container
    if (names.has(name)) found.push(fieldDuplicate(`${path}.name`, name))
    else if (name) names.add(name)
    checkHostPorts([container], field, found)
    if (container.restartPolicy === 'Always') {
      checkLifecycle(container.lifecycle, pod.gracePeriod, `${path}.lifecycle`, found)
      checkProbes(container, pod.gracePeriod, path, found)
    } else {
      checkRunsToTheEnd(container, path, found)
    }
  }
}

/** An init container other than a sidecar ends before it could be probed. */
function checkRunsToTheEnd(container: Loose<Container>, path: string, found: Found): void {
  const fields = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const
  for (const field of fields) {
    if (!container[field]) continue
    const detail = 'may not be set for init containers without restartPolicy=Always'
    found.push(fieldForbidden(`${path}.${field}`, detail))
  }
  for (const [at, { restartPolicy }] of (container.resizePolicy ?? []).entries()) {
    if (restartPolicy !== 'RestartContainer') continue
    const field = `${path}.resizePolicy[${at}].restartPolicy`
    const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers"
    found.push(fieldInvalid(field, restartPolicy, detail))
  }
}

const notForEphemeral = [
  'ports',
  'resources',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
] as const

export function checkEphemeralContainers(
  spec: Loose<PodSpec>,
  pod: PodFacts,
  field: string,
  found: Found,
): void {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  const others = new Set(containers.map(({ name = '' }) => name))
  const names = new Set(others)
  for (const [at, container] of (spec.ephemeralContainers ?? []).entries()) {
    const path = `${field}[${at}]`
    checkContainer(container, pod, path, found)
    checkImageSpaces(container, path, found)
    const { name = '', targetContainerName = '' } = container
    if (names.has(name)) found.push(fieldDuplicate(`${path}.name`, name))
    names.add(name)
    if (targetContainerName && !others.has(targetContainerName)) {
      found.push(fieldNotFound(`${path}.targetContainerName`, targetContainerName))
    }
    checkEphemeralFields(container, path, found)
  }
}

function checkEphemeralFields(
  container: Loose<EphemeralContainer>,
  path: string,
  found: Found,
): void {
  const detail = 'cannot be set for an Ephemeral Container'
  for (const field of notForEphemeral) {
    const value = container[field]
    const isSet = typeof value === 'object' ? Object.keys(value).length > 0 : Boolean(value)
    if (isSet) found.push(fieldForbidden(`${path}.${field}`, detail))
  }
  for (const [at, mount] of (container.volumeMounts ?? []).entries()) {
    const field = `${path}.volumeMounts[${at}]`
    if (mount.subPath) found.push(fieldForbidden(`${field}.subPath`, detail))
    if (mount.subPathExpr) found.push(fieldForbidden(`${field}.subPathExpr`, detail))
  }
}

/** For pods only: templates with such images were accepted before this check existed. */
export function checkImageSpaces(container: Loose<Container>, path: string, found: Found): void {
  const { image = '' } = container
  if (image.trim() === image) return
  const detail = 'must not have leading or trailing whitespace'
  found.push(fieldInvalid(`${path}.image`, image, detail))
}
