import {
  fieldForbidden,
  fieldInvalid,
  type ContainerStatus,
  type Pod,
  type PodSpec,
  type StatusCause,
} from '@skerry/api'
import { checkQualifiedField, checkSubdomainField, checkUnchanged, type Found } from '../checks.ts'
import { checkIp, isOnePerFamily, ipOf } from '../ip-text.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import {
  checkPodAnnotations,
  checkPodAnnotationUpdate,
} from './pod-spec-validation/pod-annotations.ts'

type Statuses = readonly Loose<ContainerStatus>[]

export function validatePodStatus(next: LooseObject<Pod>, old: LooseObject<Pod>): StatusCause[] {
  const found: Found = []
  const { status = {}, spec = {} } = next
  const before = old.status ?? {}
  const { annotations } = next.metadata
  checkPodAnnotationUpdate(annotations, old.metadata.annotations, 'metadata.annotations', found)
  checkPodAnnotations(annotations, spec, 'metadata.annotations', found)
  checkConditions(next, found)
  checkNomination(next, old, found)
  if ((status.observedGeneration ?? 0) < 0) {
    const detail = 'must be a non-negative integer'
    found.push(fieldInvalid('status.observedGeneration', status.observedGeneration, detail))
  }
  checkUnchanged(status.qosClass, before.qosClass, 'status.qosClass', found)
  for (const list of ['containerStatuses', 'initContainerStatuses'] as const) {
    const containers = list === 'containerStatuses' ? spec.containers : spec.initContainers
    const mayRestart = (name: string, exitCode: number): boolean =>
      isRestarted(
        spec,
        containers?.find((container) => container.name === name),
        exitCode,
      )
    checkEnded(
      status[list] ?? [],
      before[list] ?? [],
      { field: `status.${list}`, mayRestart },
      found,
    )
  }
  const field = 'status.ephemeralContainerStatuses'
  const ephemeral = status.ephemeralContainerStatuses ?? []
  const ephemeralBefore = before.ephemeralContainerStatuses ?? []
  checkEnded(ephemeral, ephemeralBefore, { field, mayRestart: () => false }, found)
  checkAddresses(next, found)
  return found
}

function checkConditions(pod: LooseObject<Pod>, found: Found): void {
  const system = ['PodScheduled', 'Ready', 'Initialized']
  for (const [at, condition] of (pod.status?.conditions ?? []).entries()) {
    const { type = '', observedGeneration = 0 } = condition
    const path = `status.conditions[${at}]`
    if (observedGeneration < 0) {
      const detail = 'must be a non-negative integer'
      found.push(fieldInvalid(`${path}.observedGeneration`, observedGeneration, detail))
    }
    if (!system.includes(type)) checkQualifiedField(type, `${path}.Type`, found)
  }
}

function checkNomination(next: LooseObject<Pod>, old: LooseObject<Pod>, found: Found): void {
  const name = next.status?.nominatedNodeName
  if (!name || name === old.status?.nominatedNodeName) return
  const field = 'status.nominatedNodeName'
  checkSubdomainField(name, field, found)
  if (old.spec?.nodeName) {
    found.push(fieldForbidden(field, 'may not be set on pods that are already bound to a node'))
  }
}

interface EndedRules {
  field: string
  mayRestart: (name: string, exitCode: number) => boolean
}

/** A container that has ended permanently does not run again. */
function checkEnded(next: Statuses, old: Statuses, rules: EndedRules, found: Found): void {
  for (const [at, status] of old.entries()) {
    const ended = status.state?.terminated
    if (!ended) continue
    const now = next.find(({ name, state }) => name === status.name && !state?.terminated)
    if (!now || rules.mayRestart(status.name ?? '', ended.exitCode ?? 0)) continue
    const detail = 'may not be transitioned to non-terminated state'
    found.push(fieldForbidden(`${rules.field}[${at}].state`, detail))
  }
}

type AnyContainer = NonNullable<Loose<PodSpec>['containers']>[number]

function isRestarted(
  spec: Loose<PodSpec>,
  container: AnyContainer | undefined,
  exitCode: number,
): boolean {
  if (restartsAll(spec)) return true
  if (!container) return false
  for (const { exitCodes, action } of container.restartPolicyRules ?? []) {
    const isListed = (exitCodes?.values ?? []).includes(exitCode)
    const matches = exitCodes?.operator === 'NotIn' ? !isListed : isListed
    if (matches && action === 'Restart') return true
  }
  const policy = container.restartPolicy ?? spec.restartPolicy ?? 'Always'
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
}

/** One rule that restarts all containers lets every one of them run again. */
function restartsAll(spec: Loose<PodSpec>): boolean {
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].some((container) =>
    (container.restartPolicyRules ?? []).some(({ action }) => action === 'RestartAllContainers'),
  )
}

function checkAddresses(pod: LooseObject<Pod>, found: Found): void {
  const { podIPs = [], hostIPs = [], hostIP = '' } = pod.status ?? {}
  const first = hostIPs[0]?.ip
  if (first !== undefined && first !== hostIP) {
    found.push(fieldInvalid('status.hostIPs[0].ip', first, 'must be equal to `hostIP`'))
  }
  const lists: readonly [string, typeof podIPs][] = [
    ['status.podIPs', podIPs],
    ['status.hostIPs', hostIPs],
  ]
  for (const [field, addresses] of lists) {
    for (const [at, { ip = '' }] of addresses.entries()) checkIp(ip, `${field}[${at}]`, found)
    const parsed = addresses.map(({ ip = '' }) => ipOf(ip))
    if (addresses.length < 2 || isOnePerFamily(parsed)) continue
    const shown = addresses.map(({ ip }) => ({ IP: ip }))
    const detail = 'may specify no more than one IP for each IP family'
    found.push(fieldInvalid(field, shown, detail))
  }
}
