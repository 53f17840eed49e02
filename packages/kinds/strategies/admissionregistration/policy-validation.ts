import type { Declarations } from '../../admission-cel/admission-environment.ts'
import { expressions } from '../../expressions/expressions.ts'
import {
  checkDns1035Label,
  checkDnsSubdomain,
  checkPathSegment,
  checkQualifiedName,
  equalJson,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type MatchCondition,
  type MatchResources,
  type MutatingAdmissionPolicy,
  type Mutation,
  type ParamKind,
  type StatusCause,
  type ValidatingAdmissionPolicy,
  type Validation,
} from '@skerry/api'
import { addInvalid, checkOneOf, type Found } from '../checks.ts'
import { checkLabelSelector } from '../label-checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { checkExpression, checkVariable } from './expression-validation.ts'
import { checkMatchConditions, checkRule } from './webhook-validation.ts'
import { kindsBounds } from '../../limits-table.ts'

/** `old` is the policy before an update, whose match conditions are checked only if they changed. */
export function validateValidatingPolicy(
  policy: LooseObject<ValidatingAdmissionPolicy>,
  old?: LooseObject<ValidatingAdmissionPolicy>,
): StatusCause[] {
  const found: Found = []
  const { spec = {}, metadata } = policy
  const declared = checkPolicyHead(spec, old?.spec, found)
  checkVariables(spec.variables ?? [], declared, found)
  const { validations = [], auditAnnotations = [] } = spec
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item'
    found.push(fieldRequired('spec.validations', detail))
    found.push(fieldRequired('spec.auditAnnotations', detail))
    return found
  }
  const composed = composedOf(spec.variables ?? [], declared)
  for (const [at, validation] of validations.entries()) {
    checkValidation(validation, composed, `spec.validations[${at}]`, found)
  }
  const prefix = metadata.name ?? ''
  checkAuditAnnotations(auditAnnotations, prefix, composed, found)
  return found
}

const mutatingOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE']

export function validateMutatingPolicy(
  policy: LooseObject<MutatingAdmissionPolicy>,
  old?: LooseObject<MutatingAdmissionPolicy>,
): StatusCause[] {
  const found: Found = []
  const { spec = {} } = policy
  const operations = (spec.matchConstraints?.resourceRules ?? []).flatMap(
    (rule) => rule.operations ?? [],
  )
  const declared = checkPolicyHead(spec, old?.spec, found, operations)
  checkVariables(spec.variables ?? [], declared, found)
  const mutations = spec.mutations ?? []
  if (mutations.length === 0) {
    found.push(fieldRequired('spec.mutations', 'mutations must contain at least one item'))
  }
  const composed = { ...composedOf(spec.variables ?? [], declared), hasPatchTypes: true }
  for (const [at, mutation] of mutations.entries()) {
    checkMutation(mutation, composed, `spec.mutations[${at}]`, found)
  }
  const { reinvocationPolicy } = spec
  if (!reinvocationPolicy) found.push(fieldRequired('spec.reinvocationPolicy'))
  else checkOneOf(reinvocationPolicy, ['IfNeeded', 'Never'], 'spec.reinvocationPolicy', found)
  return found
}

interface PolicyHead {
  paramKind?: Loose<ParamKind>
  matchConstraints?: Loose<MatchResources>
  matchConditions?: Loose<MatchCondition>[]
  failurePolicy?: string
}

/** Returns the declarations for the policy's expressions. */
function checkPolicyHead(
  spec: PolicyHead,
  old: PolicyHead | undefined,
  found: Found,
  mutated: readonly string[] = [],
): Declarations {
  checkOneOf(spec.failurePolicy, ['Fail', 'Ignore'], 'spec.failurePolicy', found)
  if (spec.paramKind) checkParamKind(spec.paramKind, 'spec.paramKind', found)
  const declared = { hasParams: spec.paramKind !== undefined, hasAuthorizer: true }
  if (!spec.matchConstraints) {
    found.push(fieldRequired('spec.matchConstraints'))
  } else {
    checkMatch(spec.matchConstraints, 'spec.matchConstraints', found)
    if ((spec.matchConstraints.resourceRules ?? []).length === 0) {
      found.push(fieldRequired('spec.matchConstraints.resourceRules'))
    }
    for (const operation of mutated) {
      const field = 'spec.matchConstraints.resourceRules.operations'
      checkOneOf(operation, mutatingOperations, field, found)
    }
  }
  const conditions = spec.matchConditions ?? []
  const isSame =
    old !== undefined &&
    equalJson(conditions, old.matchConditions ?? []) &&
    equalJson(spec.paramKind, old.paramKind)
  if (!isSame) checkMatchConditions(conditions, 'spec.matchConditions', found, declared)
  return declared
}

function checkParamKind(
  { apiVersion = '', kind = '' }: Loose<ParamKind>,
  path: string,
  found: Found,
): void {
  const field = `${path}.apiVersion`
  const parts = apiVersion.split('/')
  if (apiVersion === '') found.push(fieldRequired(field))
  else if (parts.length > 2) {
    const detail = `unexpected GroupVersion string: ${apiVersion}`
    found.push(fieldInvalid(field, apiVersion, detail))
  } else {
    const [group, version = ''] = parts.length === 2 ? parts : ['', apiVersion]
    if (group) addJoined(found, field, group, checkDnsSubdomain(group))
    if (version === '') found.push(fieldInvalid(field, apiVersion, 'version must be specified'))
    else addJoined(found, field, version, checkDns1035Label(version))
  }
  if (kind === '') found.push(fieldRequired(`${path}.kind`))
  else {
    const texts = checkDns1035Label(kind.toLowerCase())
    if (texts.length === 0) return
    const detail = `may have mixed case, but should otherwise match: ${texts.join(',')}`
    found.push(fieldInvalid(`${path}.kind`, kind, detail))
  }
}

function addJoined(found: Found, field: string, value: string, texts: readonly string[]): void {
  if (texts.length > 0) found.push(fieldInvalid(field, value, texts.join(',')))
}

export function checkMatch(match: Loose<MatchResources>, path: string, found: Found): void {
  checkLabelSelector(match.namespaceSelector, `${path}.namespaceSelector`, found)
  checkLabelSelector(match.objectSelector, `${path}.objectSelector`, found)
  for (const list of ['resourceRules', 'excludeResourceRules'] as const) {
    for (const [at, rule] of (match[list] ?? []).entries()) {
      const field = `${path}.${list}[${at}]`
      checkNames(rule.resourceNames ?? [], `${field}.resourceNames`, found)
      checkRule(rule, field, found)
    }
  }
  checkOneOf(match.matchPolicy, ['Equivalent', 'Exact'], `${path}.matchPolicy`, found)
}

function checkNames(names: readonly string[], path: string, found: Found): void {
  for (const [at, name] of names.entries()) {
    addInvalid(found, `${path}[${at}]`, name, checkPathSegment(name))
    if (names.indexOf(name) < at) found.push(fieldDuplicate(`${path}[${at}]`, name))
  }
}

type Variables = readonly { name?: string; expression?: string }[]

function checkVariables(variables: Variables, declared: Declarations, found: Found): void {
  for (const [at, variable] of variables.entries()) {
    const before = composedOf(variables.slice(0, at), declared)
    checkVariable(
      variable,
      { ...before, variables: before.variables ?? {} },
      {
        path: `spec.variables[${at}]`,
        found,
      },
    )
  }
}

function composedOf(variables: Variables, declared: Declarations): Declarations {
  const named = variables.map(({ name = '', expression = '' }) => ({ name, expression }))
  return expressions().compileVariables(named, declared).declared
}

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']

function checkValidation(
  validation: Loose<Validation>,
  declared: Declarations,
  path: string,
  found: Found,
): void {
  const { expression = '', message = '', messageExpression = '', reason } = validation
  const field = `${path}.expression`
  if (!expression.trim()) found.push(fieldRequired(field, 'expression is not specified'))
  else checkExpression({ expression, declared, result: 'condition' }, field, found)
  const messageField = `${path}.messageExpression`
  const isBlank = messageExpression !== '' && !messageExpression.trim()
  const absent = 'must be non-empty if specified'
  if (isBlank) found.push(fieldInvalid(messageField, messageExpression, absent))
  else if (messageExpression !== '') {
    const silent = { ...declared, hasAuthorizer: false }
    const wanted = { expression: messageExpression, declared: silent, result: 'message' } as const
    checkExpression(wanted, messageField, found)
  }
  if (message !== '' && !message.trim()) {
    found.push(fieldInvalid(`${path}.message`, message, absent))
  } else if (/[\n\r]/.test(message.trim())) {
    found.push(fieldInvalid(`${path}.message`, message, 'must not contain line breaks'))
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    found.push(fieldNotSupported(`${path}.reason`, reason, reasons))
  }
}

const { auditAnnotationsMax, valueExpressionBytesMax } = kindsBounds.policyValidation

function checkAuditAnnotations(
  annotations: readonly { key?: string; valueExpression?: string }[],
  policyName: string,
  declared: Declarations,
  found: Found,
): void {
  if (annotations.length > auditAnnotationsMax) {
    const detail = `must not have more than ${auditAnnotationsMax} auditAnnotations`
    found.push(fieldInvalid('spec.auditAnnotations', annotations, detail))
  }
  const keys = new Set<string>()
  for (const [at, { key = '', valueExpression = '' }] of annotations.entries()) {
    const path = `spec.auditAnnotations[${at}]`
    if (policyName === '') {
      found.push(fieldInvalid(`${path}.key`, key, 'requires metadata.name be non-empty'))
    } else {
      const full = `${policyName}/${key}`
      addInvalid(found, `${path}.key`, full, checkQualifiedName(full))
    }
    checkValueExpression(valueExpression, declared, `${path}.valueExpression`, found)
    if (keys.has(key)) found.push(fieldDuplicate(`${path}.key`, key))
    keys.add(key)
  }
}

function checkValueExpression(
  expression: string,
  declared: Declarations,
  field: string,
  found: Found,
): void {
  const trimmed = expression.trim()
  if (trimmed === '') found.push(fieldRequired(field, 'valueExpression is not specified'))
  else if (trimmed.length > valueExpressionBytesMax) {
    found.push(fieldRequired(field, `must not exceed ${valueExpressionBytesMax} bytes in length`))
  } else {
    const wanted = { expression: trimmed, shown: expression, declared }
    checkExpression({ ...wanted, result: 'auditAnnotation' }, field, found)
  }
}

/** The field of each type of patch. */
const patchFields = Object.freeze({
  ApplyConfiguration: 'applyConfiguration',
  JSONPatch: 'jsonPatch',
} as const)

function checkMutation(
  mutation: Loose<Mutation>,
  declared: Declarations,
  path: string,
  found: Found,
): void {
  const { patchType = '' } = mutation
  if (patchType === '') {
    found.push(fieldRequired(`${path}.patchType`))
    return
  }
  if (patchType !== 'ApplyConfiguration' && patchType !== 'JSONPatch') {
    found.push(fieldNotSupported(`${path}.patchType`, patchType, Object.keys(patchFields)))
    return
  }
  const own = patchFields[patchType]
  const other = own === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch'
  const field = `${path}.${own}`
  if (!mutation[own]) {
    found.push(fieldRequired(field, `must be specified when patchType is ${patchType}`))
  } else {
    const expression = (mutation[own].expression ?? '').trim()
    if (expression === '') found.push(fieldRequired(`${field}.expression`))
    else checkExpression({ expression, declared, result: own }, `${field}.expression`, found)
  }
  if (!mutation[other]) return
  const detail = `must not be specified when patchType is ${patchType}`
  found.push(fieldInvalid(`${path}.${other}`, `{${other}}`, detail))
}
