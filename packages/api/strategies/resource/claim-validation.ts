import type {
  DeviceClaim,
  DeviceRequest,
  DeviceSelector,
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
  ResourceClaim,
  ResourceClaimTemplate,
} from '../../generated/types.ts'
import {
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooMany,
} from '../../field-error.ts'
import { checkLabelValue } from '../../names.ts'
import type { StatusCause } from '../../status-error.ts'
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

function checkDevices(claim: Loose<DeviceClaim>, path: string, found: Found): void {
  const names = new Set<string>()
  for (const [at, request] of (claim.requests ?? []).entries()) {
    const field = `${path}.requests[${at}]`
    checkRequest(request, field, found)
    const { name = '' } = request
    if (name && names.has(name)) found.push(fieldDuplicate(field, name))
    names.add(name)
  }
}

function checkRequest(request: Loose<DeviceRequest>, field: string, found: Found): void {
  const { exactly, firstAvailable = [] } = request
  checkRequestName(request.name, field, found)
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

const alternativesMax = 8

function checkAlternatives(
  alternatives: readonly Loose<DeviceSubRequest>[],
  path: string,
  found: Found,
): void {
  if (alternatives.length > alternativesMax) {
    found.push(fieldTooMany(path, alternatives.length, alternativesMax))
  }
  const names = new Set<string>()
  for (const [at, alternative] of alternatives.entries()) {
    const field = `${path}[${at}]`
    const { name = '' } = alternative
    checkRequestName(name, field, found)
    checkDemand(alternative, field, found)
    if (name && names.has(name)) found.push(fieldDuplicate(field, name))
    names.add(name)
  }
}

function checkRequestName(name = '', field: string, found: Found): void {
  if (checkNotEmpty(name, `${field}.name`, found)) checkLabelField(name, `${field}.name`, found)
}

/** How many devices of which class: what a request and an alternative have in common. */
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

const selectorsMax = 32

export function checkSelectors(
  selectors: readonly Loose<DeviceSelector>[],
  path: string,
  found: Found,
): void {
  if (selectors.length > selectorsMax) {
    found.push(fieldTooMany(path, selectors.length, selectorsMax))
  }
  for (const [at, { cel }] of selectors.entries()) {
    if (!cel) found.push(fieldRequired(`${path}[${at}].cel`))
  }
}
