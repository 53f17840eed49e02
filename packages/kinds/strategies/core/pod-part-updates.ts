import {
  fieldForbidden,
  fieldInvalid,
  quoteGo,
  type Pod,
  type PodSpec,
  type ResourceRequirements,
  type StatusCause,
} from '@skerry/api'
import { changedFields } from '../changed-fields.ts'
import { isSame, type Found } from '../checks.ts'
import type { Loose, LooseObject, TypedPartUpdate } from '../typed-strategy.ts'
import { qosClassOf } from './pod-qos.ts'
import { mirrorKey } from './pod-spec-validation/pod-annotations.ts'
import { checkWholePod } from './pod-validation.ts'

/** The parts of a running pod that may change through their own subresources. */
export const podParts: Readonly<Record<string, TypedPartUpdate<Pod>>> = Object.freeze({
  binding: { validate: () => [] },
  ephemeralcontainers: { validate: validateEphemeralContainers },
  resize: { validate: validateResize },
})

function validateEphemeralContainers(next: LooseObject<Pod>, old: LooseObject<Pod>): StatusCause[] {
  if (old.metadata.annotations?.[mirrorKey] !== undefined) {
    return [fieldForbidden('[]', 'static pods do not support ephemeral containers')]
  }
  const found: Found = []
  checkWholePod(next, found)
  for (const before of old.spec?.ephemeralContainers ?? []) {
    const { name = '' } = before
    const now = next.spec?.ephemeralContainers?.find((container) => container.name === name)
    if (now && isSame(now, before)) continue
    const what = now ? `changed\n${changedFields(now, before)}` : 'removed\n'
    const detail = `existing ephemeral containers ${quoteGo(name)} may not be ${what}`
    found.push(fieldForbidden('spec.ephemeralContainers', detail))
  }
  return found
}

function validateResize(next: LooseObject<Pod>, old: LooseObject<Pod>): StatusCause[] {
  if (old.metadata.annotations?.[mirrorKey] !== undefined) {
    return [fieldForbidden('[]', 'static pods cannot be resized')]
  }
  const found: Found = []
  checkWholePod(next, found)
  const { spec = {}, status = {} } = next
  const before = old.spec ?? {}
  if (qosClassOf(spec) !== (old.status?.qosClass ?? qosClassOf(before))) {
    const detail = 'Pod QOS Class may not change as a result of resizing'
    found.push(fieldInvalid('spec', status.qosClass ?? '', detail))
  }
  for (const list of ['initContainers', 'containers'] as const)
    checkContainers(spec, before, list, found)
  if (before.resources && !spec.resources) {
    found.push(fieldForbidden('spec.resources', 'pod-level resources cannot be removed'))
  } else if (spec.resources) {
    const words = {
      removed: 'pod-level resource',
      immutable: 'only cpu and memory resources are mutable at pod-level',
    }
    checkResources(spec.resources, before.resources ?? {}, { path: 'spec.resources', words }, found)
  }
  return found
}

function checkContainers(
  next: Loose<PodSpec>,
  old: Loose<PodSpec>,
  list: 'containers' | 'initContainers',
  found: Found,
): void {
  const what = list === 'containers' ? 'containers' : 'initContainers'
  const containers = next[list] ?? []
  const before = old[list] ?? []
  if (containers.length !== before.length) {
    const detail = `${what} may not be added or removed on resize`
    found.push(fieldForbidden(`spec.${list}`, detail))
    return
  }
  for (const [at, container] of containers.entries()) {
    const path = `spec.${list}[${at}]`
    if (container.name !== before[at]?.name) {
      const detail = `${what} may not be renamed or reordered on resize`
      found.push(fieldForbidden(`${path}.name`, detail))
    }
    const words = { removed: 'resource', immutable: 'only cpu and memory resources are mutable' }
    const resources = container.resources ?? {}
    checkResources(
      resources,
      before[at]?.resources ?? {},
      { path: `${path}.resources`, words },
      found,
    )
  }
}

interface ResizePlace {
  path: string
  words: { removed: string; immutable: string }
}

function checkResources(
  next: Loose<ResourceRequirements>,
  old: Loose<ResourceRequirements>,
  { path, words }: ResizePlace,
  found: Found,
): void {
  for (const side of ['requests', 'limits'] as const) {
    const amounts = next[side] ?? {}
    const before = old[side] ?? {}
    if (Object.keys(before).some((name) => !(name in amounts))) {
      const detail = `${words.removed} ${side} cannot be removed`
      found.push(fieldForbidden(`${path}.${side}`, detail))
    }
    if (isSame(withoutResizable(amounts), withoutResizable(before))) continue
    found.push(fieldForbidden('spec', words.immutable))
  }
}

function withoutResizable(amounts: Readonly<Record<string, string>>): Record<string, string> {
  const { cpu: _cpu, memory: _memory, ...rest } = amounts
  return rest
}
