import {
  StatusError,
  checkQualifiedName,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  type NonResourceAttributes,
  type ObjectMeta,
  type StatusCause,
  type SubjectAccessReviewSpec,
} from '@skerry/api'

const group = 'authorization.k8s.io'

/** Throws StatusError Invalid. Upstream names no kind in these refusals. */
export function refuseIf(causes: readonly StatusCause[]): void {
  if (causes.length === 0) return
  const text = causes.map((cause) => `${cause.field}: ${cause.message}`)
  const joined = text.length === 1 ? text[0] : `[${text.join(', ')}]`
  throw new StatusError('Invalid', `.${group} "" is invalid: ${joined}`, {
    details: { group, causes: [...causes] },
  })
}

/** A review is never stored, so it must not have the metadata of objects. */
export function metadataCauses(metadata: ObjectMeta): StatusCause[] {
  const {
    managedFields: _managed,
    namespace: _namespace,
    creationTimestamp: _at,
    ...rest
  } = metadata
  if (Object.keys(rest).length === 0) return []
  return [fieldInvalid('metadata', rest, 'must be empty')]
}

export function attributeCauses(spec: SubjectAccessReviewSpec): StatusCause[] {
  const { resourceAttributes, nonResourceAttributes } = spec
  if (resourceAttributes && nonResourceAttributes) {
    return [
      fieldInvalid(
        'spec.nonResourceAttributes',
        asWritten(nonResourceAttributes),
        'cannot be specified in combination with resourceAttributes',
      ),
    ]
  }
  if (resourceAttributes) return selectorCauses(resourceAttributes)
  if (nonResourceAttributes) return []
  return [
    fieldInvalid(
      'spec.resourceAttributes',
      null,
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ),
  ]
}

export function subjectCauses(spec: SubjectAccessReviewSpec): StatusCause[] {
  if (spec.user || spec.groups?.length) return []
  return [fieldInvalid('spec.user', '', 'at least one of user or group must be specified')]
}

export function localCauses(spec: SubjectAccessReviewSpec, namespace: string): StatusCause[] {
  const { nonResourceAttributes } = spec
  if (nonResourceAttributes) {
    const value = asWritten(nonResourceAttributes)
    return [fieldInvalid('spec.nonResourceAttributes', value, 'disallowed on this kind of request')]
  }
  const named = spec.resourceAttributes?.namespace ?? ''
  if (!spec.resourceAttributes || named === namespace) return []
  return [fieldInvalid('spec.resourceAttributes.namespace', named, 'must match metadata.namespace')]
}

/** Upstream shows its own field names here. */
function asWritten({ path = '', verb = '' }: NonResourceAttributes) {
  return { Path: path, Verb: verb }
}

interface AskedSelector {
  readonly rawSelector?: string
  readonly requirements?: readonly Requirement[]
}

interface Requirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

function selectorCauses({
  fieldSelector,
  labelSelector,
}: NonNullable<SubjectAccessReviewSpec['resourceAttributes']>): StatusCause[] {
  const base = 'spec.resourceAttributes'
  return [
    ...(fieldSelector ? oneSelector(fieldSelector, `${base}.fieldSelector`, fieldKey) : []),
    ...(labelSelector ? oneSelector(labelSelector, `${base}.labelSelector`, labelKey) : []),
  ]
}

type KeyCheck = (key: string, path: string) => StatusCause[]

const fieldKey: KeyCheck = (key, path) =>
  key === '' ? [fieldRequired(path, 'must be specified')] : []

const labelKey: KeyCheck = (key, path) => {
  return checkQualifiedName(key).map((problem) => fieldInvalid(path, key, problem))
}

function oneSelector(selector: AskedSelector, path: string, checkKey: KeyCheck): StatusCause[] {
  const { rawSelector = '', requirements = [] } = selector
  const causes: StatusCause[] = []
  if (rawSelector !== '' && requirements.length > 0) {
    const why = 'may not specified at the same time as requirements'
    causes.push(fieldInvalid(`${path}.rawSelector`, rawSelector, why))
  }
  if (rawSelector === '' && requirements.length === 0) {
    const why = `when ${path} is specified, requirements or rawSelector is required`
    causes.push(fieldRequired(`${path}.requirements`, why))
  }
  for (const [at, requirement] of requirements.entries()) {
    const place = `${path}.requirements[${at}]`
    const keyCauses = checkKey(requirement.key, `${place}.key`)
    const valueCauses = valuesCauses(requirement, place)
    // Upstream checks the key of a label after its values, and the key of a field before.
    causes.push(
      ...(checkKey === fieldKey ? [...keyCauses, ...valueCauses] : [...valueCauses, ...keyCauses]),
    )
  }
  return causes
}

/** Unknown operators are for servers that know more, and are let through. */
function valuesCauses({ operator, values = [] }: Requirement, path: string): StatusCause[] {
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    return [fieldRequired(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")]
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
    return [fieldForbidden(`${path}.values`, why)]
  }
  return []
}

const operators = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist'])

/**
 * Describes the parts of a question that were not understood and so make it wider. Returns
 * undefined if there are none.
 */
export function evaluationError(spec: SubjectAccessReviewSpec): string | undefined {
  const { fieldSelector, labelSelector } = spec.resourceAttributes ?? {}
  const texts = Object.entries({ fieldSelector, labelSelector }).flatMap(([name, selector]) => {
    const requirements: readonly Requirement[] = selector?.requirements ?? []
    const unknown = requirements.filter(({ operator }) => !operators.has(operator))
    if (unknown.length === 0) return []
    const how = unknown.length < requirements.length ? 'partially ignored' : 'ignored'
    return [`spec.resourceAttributes.${name} ${how} due to parse error`]
  })
  return texts.length === 0 ? undefined : texts.join('; ')
}
