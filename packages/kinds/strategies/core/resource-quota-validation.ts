import {
  fieldInvalid,
  fieldRequired,
  type ResourceQuota,
  type ResourceQuotaSpec,
  type StatusCause,
} from '@skerry/api'
import type { Found } from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import {
  checkQuotaResourceName,
  checkResourceAmount,
  isQuotaResource,
} from './pod-spec-validation/resource-names.ts'

const podScopes = [
  'Terminating',
  'NotTerminating',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
]
const scopes = [...podScopes, 'BestEffort', 'VolumeAttributesClass']
const podResources = [
  'pods',
  'cpu',
  'memory',
  'limits.cpu',
  'limits.memory',
  'requests.cpu',
  'requests.memory',
]
const existsOnly = scopes.filter(
  (scope) => scope !== 'PriorityClass' && scope !== 'VolumeAttributesClass',
)

export function validateResourceQuota(quota: LooseObject<ResourceQuota>): StatusCause[] {
  const found: Found = []
  checkSpec(quota.spec ?? {}, found)
  return found
}

function checkSpec(spec: Loose<ResourceQuotaSpec>, found: Found): void {
  checkAmounts(spec.hard ?? {}, 'spec.hard', found)
  const named = spec.scopes ?? []
  for (const scope of named) {
    checkScope(scope, spec, { field: 'spec.scopes', shown: named }, found)
  }
  checkConflicts(named, spec, 'spec.scopes', found)
  const field = 'spec.scopeSelector.matchExpressions'
  const expressions = spec.scopeSelector?.matchExpressions ?? []
  for (const { scopeName = '', operator = '', values = [] } of expressions) {
    checkScope(scopeName, spec, { field, shown: spec.scopeSelector }, found)
    checkOperator(scopeName, operator, { values, field }, found)
  }
  checkConflicts(
    expressions.map(({ scopeName = '' }) => scopeName),
    spec,
    field,
    found,
  )
}

function checkAmounts(amounts: Readonly<Record<string, string>>, path: string, found: Found): void {
  for (const [name, amount] of Object.entries(amounts)) {
    checkQuotaResourceName(name, `${path}[${name}]`, found)
    checkResourceAmount(name, amount, `${path}[${name}]`, found)
  }
}

function checkScope(
  scope: string,
  spec: Loose<ResourceQuotaSpec>,
  place: { field: string; shown: unknown },
  found: Found,
): void {
  const { field, shown } = place
  const isList = Array.isArray(shown)
  if (!scopes.includes(scope)) {
    const path = isList ? field : `${field}.scopeName`
    found.push(fieldInvalid(path, isList ? shown : scope, 'unsupported scope'))
  }
  for (const name of Object.keys(spec.hard ?? {})) {
    if (!isQuotaResource(name) || isCounted(scope, name)) continue
    found.push(fieldInvalid(field, shown, 'unsupported scope applied to resource'))
  }
}

function isCounted(scope: string, resource: string): boolean {
  if (podScopes.includes(scope)) return podResources.includes(resource)
  if (scope === 'BestEffort') return resource === 'pods'
  if (scope !== 'VolumeAttributesClass') return true
  return resource === 'persistentvolumeclaims' || resource === 'requests.storage'
}

function checkOperator(
  scope: string,
  operator: string,
  place: { values: readonly string[]; field: string },
  found: Found,
): void {
  const { values, field } = place
  if (existsOnly.includes(scope) && operator !== 'Exists') {
    const detail =
      "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
    found.push(fieldInvalid(`${field}.operator`, operator, detail))
  }
  if (operator === 'In' || operator === 'NotIn') {
    const detail =
      "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
    if (values.length === 0) found.push(fieldRequired(`${field}.values`, detail))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail =
      "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
    if (values.length > 0) found.push(fieldInvalid(`${field}.values`, values, detail))
  } else {
    found.push(fieldInvalid(`${field}.operator`, operator, 'not a valid selector operator'))
  }
}

function checkConflicts(
  named: readonly string[],
  spec: Loose<ResourceQuotaSpec>,
  field: string,
  found: Found,
): void {
  const pairs = [
    ['BestEffort', 'NotBestEffort'],
    ['Terminating', 'NotTerminating'],
  ]
  for (const pair of pairs) {
    if (!pair.every((scope) => named.includes(scope))) continue
    found.push(fieldInvalid(field, spec.scopes ?? null, 'conflicting scopes'))
  }
}

export function validateResourceQuotaUpdate(
  next: LooseObject<ResourceQuota>,
  old: LooseObject<ResourceQuota>,
): StatusCause[] {
  const found = validateResourceQuota(next)
  const named = new Set(next.spec?.scopes)
  const before = new Set(old.spec?.scopes)
  if (named.size !== before.size || [...named].some((scope) => !before.has(scope))) {
    found.push(fieldInvalid('spec.scopes', next.spec?.scopes ?? null, 'field is immutable'))
  }
  return found
}

export function validateResourceQuotaStatus(next: LooseObject<ResourceQuota>): StatusCause[] {
  const found: Found = []
  checkAmounts(next.status?.hard ?? {}, 'status.hard', found)
  checkAmounts(next.status?.used ?? {}, 'status.used', found)
  return found
}
