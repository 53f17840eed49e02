import {
  cloneJson,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  type Container,
  type Pod,
  type PodSpec,
  type StatusCause,
  type Toleration,
} from '@skerry/api'
import { changedFields } from '../changed-fields.ts'
import { checkRange, int32Max, isSame, type Found } from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { checkNodeAffinityAdditions, checkNodeSelectorAdditions } from './gated-pod-update.ts'
import { checkImageSpaces } from './pod-spec-validation/containers.ts'
import {
  mirrorKey,
  checkPodAnnotations,
  checkPodAnnotationUpdate,
} from './pod-spec-validation/pod-annotations.ts'
import { checkPodSpec } from './pod-spec-validation/pod-spec.ts'
import { checkTolerations } from './pod-spec-validation/tolerations.ts'

export function validatePod(pod: LooseObject<Pod>): StatusCause[] {
  const found: Found = []
  checkWholePod(pod, found)
  const { spec = {} } = pod
  if ((spec.ephemeralContainers ?? []).length > 0) {
    found.push(fieldForbidden('spec.ephemeralContainers', 'cannot be set on create'))
  }
  if (spec.nodeName && (spec.schedulingGates ?? []).length > 0) {
    const detail = 'cannot be set until all schedulingGates have been cleared'
    found.push(fieldForbidden('spec.nodeName', detail))
  }
  return found
}

/** Checks what applies to a pod at any time. */
export function checkWholePod(pod: LooseObject<Pod>, found: Found): void {
  const { metadata, spec = {} } = pod
  checkPodAnnotations(metadata.annotations, spec, 'metadata.annotations', found)
  checkPodSpec(spec, { name: metadata.name }, 'spec', found)
  if (metadata.annotations?.[mirrorKey] !== undefined) {
    const detail = 'static pods do not support resource claims'
    found.push(...(spec.resourceClaims ?? []).map(() => fieldForbidden('[]', detail)))
  }
  if (!spec.serviceAccountName) checkNoTokens(spec, found)
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [at, container] of (spec[list] ?? []).entries()) {
      checkImageSpaces(container, `spec.${list}[${at}]`, found)
    }
  }
}

function checkNoTokens(spec: Loose<PodSpec>, found: Found): void {
  for (const [at, volume] of (spec.volumes ?? []).entries()) {
    for (const [index, source] of (volume.projected?.sources ?? []).entries()) {
      if (!source.serviceAccountToken) continue
      const field = `spec.volumes[${at}].projected.sources[${index}].serviceAccountToken`
      const detail = 'must not be specified when serviceAccountName is not set'
      found.push(fieldForbidden(field, detail))
    }
  }
}

/** A pod's node already acts on its spec, so little of it may still change. */
export function validatePodUpdate(next: LooseObject<Pod>, old: LooseObject<Pod>): StatusCause[] {
  const found: Found = []
  const { spec = {} } = next
  const before = old.spec ?? {}
  checkWholePod(next, found)
  const annotations = next.metadata.annotations
  checkPodAnnotationUpdate(annotations, old.metadata.annotations, 'metadata.annotations', found)
  checkPodAnnotations(annotations, spec, 'metadata.annotations', found)
  for (const list of ['containers', 'initContainers'] as const) {
    if (!checkImages(spec[list] ?? [], before[list] ?? [], `spec.${list}`, found)) return found
  }
  if (!checkDeadline(spec, before, found)) return found
  checkTolerationUpdate(spec.tolerations ?? [], before.tolerations ?? [], found)
  checkGateUpdate(spec, before, found)
  checkRestUnchanged(spec, before, found)
  return found
}

function checkImages(
  next: readonly Loose<Container>[],
  old: readonly Loose<Container>[],
  field: string,
  found: Found,
): boolean {
  if (next.length !== old.length) {
    found.push(fieldForbidden(field, 'pod updates may not add or remove containers'))
    return false
  }
  for (const [at, container] of next.entries()) {
    if (!container.image) found.push(fieldRequired(`${field}[${at}].image`))
    checkImageSpaces(container, `${field}[${at}]`, found)
  }
  return true
}

function checkDeadline(next: Loose<PodSpec>, old: Loose<PodSpec>, found: Found): boolean {
  const field = 'spec.activeDeadlineSeconds'
  const seconds = next.activeDeadlineSeconds
  const before = old.activeDeadlineSeconds
  if (seconds === undefined) {
    if (before === undefined) return true
    const detail = 'must not update from a positive integer to nil value'
    found.push(fieldInvalid(field, null, detail))
    return true
  }
  const count = found.length
  checkRange(seconds, { min: 0, max: int32Max }, field, found)
  if (found.length > count) return false
  if (before === undefined || before >= seconds) return true
  found.push(fieldInvalid(field, seconds, 'must be less than or equal to previous value'))
  return false
}

function checkTolerationUpdate(
  next: readonly Loose<Toleration>[],
  old: readonly Loose<Toleration>[],
  found: Found,
): void {
  const field = 'spec.tolerations'
  const isKept = (toleration: Loose<Toleration>): boolean =>
    next.some((candidate) =>
      isSame({ ...candidate, tolerationSeconds: 0 }, { ...toleration, tolerationSeconds: 0 }),
    )
  if (old.every(isKept)) {
    checkTolerations(next, field, found)
    return
  }
  const detail = 'existing toleration can not be modified except its tolerationSeconds'
  found.push(fieldForbidden(field, detail))
}

function checkGateUpdate(next: Loose<PodSpec>, old: Loose<PodSpec>, found: Found): void {
  const before = new Set((old.schedulingGates ?? []).map(({ name }) => name))
  for (const [at, { name = '' }] of (next.schedulingGates ?? []).entries()) {
    if (before.has(name)) continue
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`
    found.push(fieldForbidden(`spec.schedulingGates[${at}].name`, detail))
  }
}

const mayChange = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',')

/** Restores what was allowed to change, then compares. */
function checkRestUnchanged(next: Loose<PodSpec>, old: Loose<PodSpec>, found: Found): void {
  const rest = cloneJson(next)
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [at, container] of (rest[list] ?? []).entries()) {
      container.image = old[list]?.[at]?.image
    }
  }
  rest.activeDeadlineSeconds = old.activeDeadlineSeconds
  rest.schedulingGates = old.schedulingGates
  rest.tolerations = old.tolerations
  const graceBefore = old.terminationGracePeriodSeconds ?? 0
  if (graceBefore < 0 && rest.terminationGracePeriodSeconds === 1) {
    rest.terminationGracePeriodSeconds = graceBefore
  }
  if ((old.schedulingGates ?? []).length > 0) {
    checkNodeSelectorAdditions(rest, old, found)
    checkNodeAffinityAdditions(rest, old, found)
  }
  if (isSame(rest, old)) return
  const detail = `pod updates may not change fields other than ${mayChange}\n${changedFields(rest, old)}`
  found.push(fieldForbidden('spec', detail))
}
