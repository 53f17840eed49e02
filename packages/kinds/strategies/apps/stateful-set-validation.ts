import {
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type PodTemplateSpec,
  type StatefulSet,
  type StatefulSetSpec,
  type StatusCause,
} from '@skerry/api'
import { checkCounters, checkLabelField, checkNonNegative, isSame, type Found } from '../checks.ts'
import { checkClaimSpec } from '../core/pod-spec-validation/claim-spec-validation.ts'
import {
  checkPodTemplate,
  checkRunsForever,
  checkTemplateMetadata,
} from '../core/pod-template-validation.ts'
import { checkAtMostAll, checkIntOrPercent, isZero } from '../int-or-percent.ts'
import { checkLabelSelector, isUsableSelector } from '../label-checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import {
  checkCollisionCount,
  checkNotEmptySelector,
  checkOwnLabels,
} from '../core/workload-validation.ts'

export function validateStatefulSet(set: LooseObject<StatefulSet>): StatusCause[] {
  const found: Found = []
  checkSpec(set.spec ?? {}, { isCreate: true }, found)
  return found
}

function checkSpec(
  spec: Loose<StatefulSetSpec>,
  options: { isCreate: boolean },
  found: Found,
): void {
  checkPolicies(spec, found)
  if (options.isCreate) {
    for (const [at, template] of (spec.volumeClaimTemplates ?? []).entries()) {
      checkClaimSpec(template.spec ?? {}, `spec.volumeClaimTemplates[${at}].spec`, found)
    }
  }
  checkCounters(spec, ['replicas', 'minReadySeconds'], 'spec', found)
  checkNonNegative(spec.ordinals?.start, 'spec.ordinals.start', found)
  if (options.isCreate && spec.serviceName) {
    checkLabelField(spec.serviceName, 'spec.serviceName', found)
  }
  const { selector } = spec
  if (!selector) {
    found.push(fieldRequired('spec.selector'))
  } else {
    checkLabelSelector(selector, 'spec.selector', found)
    checkNotEmptySelector(selector, 'statefulset', found)
  }
  if (selector && !isUsableSelector(selector)) {
    found.push(fieldInvalid('spec.selector', selector, ''))
  } else {
    checkOwnLabels(spec, found)
    checkPodTemplate(templateOfPods(spec), 'spec.template', found)
    // Upstream reports it twice.
    checkTemplateMetadata(spec.template ?? {}, 'spec.template', found)
  }
  checkRunsForever(spec.template ?? {}, 'StatefulSet', 'spec.template', found)
}

function checkPolicies(spec: Loose<StatefulSetSpec>, found: Found): void {
  const { podManagementPolicy = '' } = spec
  const field = 'spec.podManagementPolicy'
  if (!podManagementPolicy) {
    found.push(fieldRequired(field))
  } else if (podManagementPolicy !== 'OrderedReady' && podManagementPolicy !== 'Parallel') {
    found.push(fieldInvalid(field, podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"))
  }
  checkUpdateStrategy(spec, found)
  const retention = spec.persistentVolumeClaimRetentionPolicy
  for (const name of ['whenDeleted', 'whenScaled'] as const) {
    const policy = retention?.[name] ?? ''
    if (!retention || policy === 'Retain' || policy === 'Delete') continue
    const path = `spec.persistentVolumeClaimRetentionPolicy.${name}`
    found.push(fieldNotSupported(path, policy, ['Retain', 'Delete']))
  }
}

function checkUpdateStrategy(spec: Loose<StatefulSetSpec>, found: Found): void {
  const { type = '', rollingUpdate } = spec.updateStrategy ?? {}
  const field = 'spec.updateStrategy'
  const shown = rollingUpdate && {
    Partition: rollingUpdate.partition ?? 0,
    MaxUnavailable: rollingUpdate.maxUnavailable ?? null,
  }
  if (!type) {
    found.push(fieldRequired(field))
  } else if (type === 'OnDelete') {
    if (!rollingUpdate) return
    const detail = "only allowed for updateStrategy 'RollingUpdate'"
    found.push(fieldInvalid(`${field}.rollingUpdate`, shown, detail))
  } else if (type !== 'RollingUpdate') {
    const value = { Type: type, RollingUpdate: shown ?? null }
    found.push(fieldInvalid(field, value, "must be 'RollingUpdate' or 'OnDelete'"))
  } else if (rollingUpdate) {
    checkNonNegative(rollingUpdate.partition, `${field}.rollingUpdate.partition`, found)
    const { maxUnavailable } = rollingUpdate
    if (maxUnavailable === undefined) return
    const path = `${field}.rollingUpdate.maxUnavailable`
    checkIntOrPercent(maxUnavailable, path, found)
    if (isZero(maxUnavailable)) found.push(fieldInvalid(path, maxUnavailable, 'cannot be 0'))
    checkAtMostAll(maxUnavailable, path, found)
  }
}

/**
 * Returns the template as its pods will have it: with their own names, and a volume for each claim
 * template.
 */
function templateOfPods(spec: Loose<StatefulSetSpec>): Loose<PodTemplateSpec> {
  const { template = {}, volumeClaimTemplates = [] } = spec
  const { hostname: _, subdomain: __, volumes = [], ...rest } = template.spec ?? {}
  const brought = volumeClaimTemplates.map(({ metadata }) => ({
    name: metadata?.name,
    persistentVolumeClaim: { claimName: metadata?.name },
  }))
  const names = new Set(brought.map(({ name }) => name))
  const kept = volumes.filter(({ name }) => !names.has(name))
  return { ...template, spec: { ...rest, volumes: [...brought, ...kept] } }
}

const mutableFields = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
] as const

export function validateStatefulSetUpdate(
  next: LooseObject<StatefulSet>,
  old: LooseObject<StatefulSet>,
): StatusCause[] {
  const found: Found = []
  const { spec = {} } = next
  checkSpec(spec, { isCreate: false }, found)
  const rest = { ...spec }
  const before = { ...old.spec }
  for (const field of mutableFields) {
    delete rest[field]
    delete before[field]
  }
  if (!isSame(rest, before)) {
    const detail =
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
    found.push(fieldForbidden('spec', detail))
  }
  return found
}

export function validateStatefulSetStatus(
  next: LooseObject<StatefulSet>,
  old: LooseObject<StatefulSet>,
): StatusCause[] {
  const found: Found = []
  const { status = {} } = next
  const counters = [
    'replicas',
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
    'observedGeneration',
    'collisionCount',
  ] as const
  checkCounters(status, counters, 'status', found)
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
  const parts = [
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
  ] as const
  for (const part of parts) {
    const value = status[part] ?? 0
    if (value <= replicas) continue
    found.push(fieldInvalid(`status.${part}`, value, 'cannot be greater than status.replicas'))
  }
  if (availableReplicas > readyReplicas) {
    const detail = 'cannot be greater than status.readyReplicas'
    found.push(fieldInvalid('status.availableReplicas', availableReplicas, detail))
  }
  checkCollisionCount(status, old.status ?? {}, found)
  return found
}
