import {
  checkLabelValue,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type DeviceClaim,
  type DeviceConstraint,
  type DeviceRequest,
  type DeviceSubRequest,
  type DeviceToleration,
  type ExactDeviceRequest,
  type ResourceClaim,
  type ResourceClaimTemplate,
  type StatusCause,
} from '@skerry/api'
import { checkTemplateMetadata } from '../core/pod-spec-validation/template-metadata.ts'
import {
  addInvalid,
  checkLabelField,
  checkNotEmpty,
  checkOneOf,
  checkPositive,
  checkQualifiedField,
  checkRequiredOneOf,
  checkSubdomainField,
  checkUnchanged,
  type Found,
} from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { checkDeviceConfig } from './device-config.ts'
import { checkFullName } from './device-name.ts'
import { checkDistinct, checkList } from './list-checks.ts'
import { checkRequestRefs, requestNamesOf, type RequestNames } from './request-names.ts'
import { checkSelectors } from './selector-validation.ts'
import { configsMax, kindsBounds } from '../../limits-table.ts'

export function validateResourceClaim(claim: LooseObject<ResourceClaim>): StatusCause[] {
  const found: Found = []
  checkDevices(claim.spec?.devices ?? {}, 'spec.devices', found)
  return found
}

export function validateResourceClaimUpdate(
  next: LooseObject<ResourceClaim>,
  old: LooseObject<ResourceClaim>,
): StatusCause[] {
  const found: Found = []
  checkUnchanged(next.spec, old.spec, 'spec', found)
  return found
}

export function validateResourceClaimTemplate(
  template: LooseObject<ResourceClaimTemplate>,
): StatusCause[] {
  const found: Found = []
  checkTemplateMetadata(template.spec?.metadata ?? {}, 'spec.metadata', found)
  checkDevices(template.spec?.spec?.devices ?? {}, 'spec.spec.devices', found)
  return found
}

export function validateResourceClaimTemplateUpdate(
  next: LooseObject<ResourceClaimTemplate>,
  old: LooseObject<ResourceClaimTemplate>,
): StatusCause[] {
  const found = validateResourceClaimTemplate(next)
  checkUnchanged(next.spec, old.spec, 'spec', found)
  return found
}

const limits = kindsBounds.claimValidation

function checkDevices(claim: Loose<DeviceClaim>, path: string, found: Found): void {
  const { config = [], constraints = [] } = claim
  const names = requestNamesOf(claim)
  checkNamed(
    claim.requests ?? [],
    { field: `${path}.requests`, max: limits.requests },
    found,
    checkRequest,
  )
  const limit = { field: `${path}.constraints`, max: limits.constraints }
  checkList(constraints, limit, found, (constraint, field) =>
    checkConstraint(constraint, names, field, found),
  )
  checkList(config, { field: `${path}.config`, max: configsMax }, found, (entry, field) => {
    checkRequestRefs(entry.requests ?? [], names, `${field}.requests`, found)
    checkDeviceConfig(entry, field, found)
  })
}

/** Checks each item by itself, then that no two have the same name. */
function checkNamed<T extends { name?: string }>(
  items: readonly T[],
  limit: { field: string; max: number },
  found: Found,
  checkItem: (item: T, field: string, found: Found) => void,
): void {
  const isShort = checkList(items, limit, found, checkItem)
  if (isShort) checkDistinct(items, limit.field, found, ({ name }) => name ?? '')
}

function checkConstraint(
  { distinctAttribute, matchAttribute, requests = [] }: Loose<DeviceConstraint>,
  names: RequestNames,
  path: string,
  found: Found,
): void {
  checkRequestRefs(requests, names, `${path}.requests`, found)
  if (matchAttribute !== undefined) {
    checkFullName(matchAttribute, `${path}.matchAttribute`, found)
  } else if (distinctAttribute !== undefined) {
    checkFullName(distinctAttribute, `${path}.distinctAttribute`, found)
  } else {
    const detail =
      'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
    found.push(fieldRequired(path, detail))
  }
}

function checkRequest(request: Loose<DeviceRequest>, field: string, found: Found): void {
  const { exactly, firstAvailable = [] } = request
  checkLabelField(request.name ?? '', `${field}.name`, found)
  const one = 'exactly one of `exactly` or `firstAvailable` is required'
  if (exactly && firstAvailable.length > 0) {
    found.push(fieldInvalid(field, null, `${one}, but multiple fields are set`))
  } else if (exactly) {
    checkDemand(exactly, `${field}.exactly`, found)
  } else if (firstAvailable.length === 0) {
    found.push(fieldRequired(field, one))
  } else {
    checkAlternatives(firstAvailable, `${field}.firstAvailable`, found)
  }
}

function checkAlternatives(
  alternatives: readonly Loose<DeviceSubRequest>[],
  path: string,
  found: Found,
): void {
  checkNamed(alternatives, { field: path, max: limits.alternatives }, found, (one, field) => {
    checkLabelField(one.name ?? '', `${field}.name`, found)
    checkDemand(one, field, found)
  })
}

/** Checks how many devices of which class: what a request and an alternative have in common. */
function checkDemand(demand: Loose<ExactDeviceRequest>, field: string, found: Found): void {
  const { allocationMode = '', count = 0, deviceClassName = '' } = demand
  if (checkNotEmpty(deviceClassName, `${field}.deviceClassName`, found)) {
    checkSubdomainField(deviceClassName, `${field}.deviceClassName`, found)
  }
  checkSelectors(demand.selectors ?? [], `${field}.selectors`, found)
  checkAmount(allocationMode, count, field, found)
  for (const [at, toleration] of (demand.tolerations ?? []).entries()) {
    checkToleration(toleration, `${field}.tolerations[${at}]`, found)
  }
}

function checkAmount(mode: string, count: number, field: string, found: Found): void {
  if (mode === 'All' && count !== 0) {
    const detail = "must not be specified when allocationMode is 'All'"
    found.push(fieldInvalid(`${field}.count`, count, detail))
  } else if (mode === 'ExactCount') {
    checkPositive(count, `${field}.count`, found)
  } else if (mode !== 'All') {
    found.push(fieldNotSupported(`${field}.allocationMode`, mode, ['All', 'ExactCount']))
  }
}

const effects = ['NoExecute', 'NoSchedule', 'None']

function checkToleration(toleration: Loose<DeviceToleration>, field: string, found: Found): void {
  const { effect, key = '', operator = '', value = '' } = toleration
  if (key) checkQualifiedField(key, `${field}.key`, found)
  if (operator === 'Exists' && value) {
    found.push(fieldInvalid(`${field}.value`, value, 'must be empty for operator `Exists`'))
  } else if (operator === 'Equal') {
    addInvalid(found, `${field}.value`, value, checkLabelValue(value))
  } else if (operator !== 'Exists') {
    checkRequiredOneOf(operator, ['Equal', 'Exists'], `${field}.operator`, found)
  }
  if (effect) checkOneOf(effect, effects, `${field}.effect`, found)
}
