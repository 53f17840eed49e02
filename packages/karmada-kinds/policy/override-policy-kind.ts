import {
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  validateAnnotations,
  validateLabels,
  type AnyObject,
  type StatusCause,
} from '@skerry/api'
import type { KindRules } from '../rules/kind-rules.ts'
import { identityFields } from './kept-fields.ts'
import type {
  FieldOperation,
  FieldOverrider,
  OverridePolicy,
  OverrideRule,
  Overriders,
} from './override-policy.ts'
import { affinityCauses, selectorCauses, setOwnNamespace } from './policy-checks.ts'
import { tenantOptions, type TenantRules } from './tenant-rules.ts'

/** Returns the rules of OverridePolicy and ClusterOverridePolicy. */
export function overridePolicyRules({ anyOverride = false }: TenantRules): KindRules {
  return {
    prepare: setOwnNamespace,
    validate: (policy) => [
      ...overrideCauses(policy),
      ...(anyOverride || !policy.metadata.namespace ? [] : keptCauses(policy)),
    ],
  }
}

/**
 * Finds the forbidden changes that the policy itself shows. All others are refused when it is applied, by
 * their result.
 */
function keptCauses(object: AnyObject): StatusCause[] {
  // Its schema has found it in order.
  const { metadata, spec } = object as unknown as OverridePolicy
  const rules = spec.overrideRules?.map(({ overriders }, at) => ({
    overriders,
    field: `spec.overrideRules[${at}].overriders`,
  })) ?? [{ overriders: spec.overriders ?? {}, field: 'spec.overriders' }]
  return rules.flatMap(({ overriders, field }) => {
    const { plaintext = [], imageOverrider = [], fieldOverrider = [] } = overriders
    const written = [
      ...plaintext.map(({ path, value }, at) => ({ path, value, field: `plaintext[${at}].path` })),
      ...imageOverrider.map(({ predicate }, at) => ({
        path: predicate?.path,
        value: undefined,
        field: `imageOverrider[${at}].predicate.path`,
      })),
      ...fieldOverrider.map(({ fieldPath }, at) => ({
        path: fieldPath,
        value: undefined,
        field: `fieldOverrider[${at}].fieldPath`,
      })),
    ]
    return written
      .filter(({ path, value }) => isOfIdentity(path, value, metadata.namespace))
      .map(({ path, field: of }) => fieldForbidden(`${field}.${of}`, keptWhy(path)))
  })
}

const identityPointers: ReadonlySet<string> = new Set(
  identityFields.map((path) => `/${path.join('/')}`),
)

/**
 * Checks a path of identity. A value for the whole object or all its metadata is judged by the result
 * instead.
 */
function isOfIdentity(path = '', value: unknown, namespace: string | undefined): boolean {
  const isSame = path === '/metadata/namespace' && value === namespace
  return identityPointers.has(path) && !isSame
}

function keptWhy(path = ''): string {
  return `a policy of a namespace must keep ${path}; use a ClusterOverridePolicy, or start the hub with ${tenantOptions.anyOverride}`
}

function overrideCauses(object: AnyObject): StatusCause[] {
  // Its schema has found it in order.
  const { metadata, spec } = object as unknown as OverridePolicy
  const { targetCluster, overriders, overrideRules, resourceSelectors = [] } = spec
  const causes = affinityCauses(targetCluster, 'spec.targetCluster')
  if (targetCluster && overrideRules) {
    const why = "overrideRules and targetCluster can't co-exist"
    causes.push(fieldInvalid('spec.targetCluster', targetCluster, why))
  }
  if (overrideRules && hasOverriders(overriders)) {
    const why = "overrideRules and overriders can't co-exist"
    causes.push(fieldInvalid('spec.overriders', overriders, why))
  }
  const rules = (overrideRules ?? []).flatMap((rule, at) => {
    return ruleCauses(rule, `spec.overrideRules[${at}]`)
  })
  return [...causes, ...rules, ...selectorCauses(resourceSelectors, metadata.namespace ?? '')]
}

/** Upstream does not count those of fields. */
function hasOverriders({ fieldOverrider: _fields, ...others }: Overriders = {}): boolean {
  return Object.values(others).some((list) => list.length > 0)
}

function ruleCauses({ targetCluster, overriders }: OverrideRule, field: string): StatusCause[] {
  const { annotationsOverrider = [], labelsOverrider = [], imageOverrider = [] } = overriders
  const { fieldOverrider = [] } = overriders
  const of = `${field}.overriders`
  return [
    ...annotationsOverrider.flatMap(({ value }, at) =>
      validateAnnotations(value, `${of}.annotationsOverrider[${at}].value`),
    ),
    ...labelsOverrider.flatMap(({ value }, at) =>
      validateLabels(value, `${of}.labelsOverrider[${at}].value`),
    ),
    ...imageOverrider.flatMap(({ predicate }, at) =>
      pointerCauses(`${of}.imageOverrider[${at}].predicate.path`, predicate?.path ?? ''),
    ),
    ...fieldOverrider.flatMap((each, at) => fieldCauses(each, `${of}.fieldOverrider[${at}]`)),
    ...affinityCauses(targetCluster, `${field}.targetCluster`),
  ]
}

function fieldCauses(overrider: FieldOverrider, field: string): StatusCause[] {
  const { fieldPath, json = [], yaml = [] } = overrider
  const causes: StatusCause[] = []
  if (yaml.length > 0 && json.length > 0) {
    const why = 'FieldOverrider has both YAML and JSON set. Only one is allowed'
    causes.push(fieldInvalid(field, overrider, why))
  }
  if (yaml.length === 0 && json.length === 0) {
    causes.push(fieldRequired(field, 'FieldOverrider must have either JSON or YAML set'))
  }
  return [
    ...causes,
    ...pointerCauses(`${field}.fieldPath`, fieldPath),
    ...json.flatMap((operation, at) => operationCauses(operation, `${field}.json[${at}]`)),
    ...yaml.flatMap((operation, at) => operationCauses(operation, `${field}.yaml[${at}]`)),
  ]
}

function operationCauses({ subPath, operator, value }: FieldOperation, field: string) {
  const causes = pointerCauses(`${field}.subPath`, subPath)
  const isRemoval = operator === 'remove'
  if (isRemoval === (value !== undefined)) {
    const why = isRemoval
      ? 'value is not allowed for remove operation'
      : 'value is required for add or replace operation'
    causes.push(fieldInvalid(`${field}.value`, value, why))
  }
  return causes
}

/** RFC 6901; the message is upstream's. */
function pointerCauses(field: string, pointer: string): StatusCause[] {
  if (pointer === '' || pointer.startsWith('/')) return []
  return [fieldInvalid(field, pointer, 'JSON pointer must be empty or start with a "/')]
}
