import type {
  MatchResources,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../generated/types.ts'
import { fieldNotSupported, fieldRequired } from '../../field-error.ts'
import type { StatusCause } from '../../status-error.ts'
import { checkNotEmpty, checkOneOf, type Found } from '../checks.ts'
import { checkLabelSelector } from '../label-checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { checkActions, checkMatchConditions, checkRule } from './webhook-validation.ts'

/** The form of a policy; whether its expressions compile is not known here. */
export function validateValidatingPolicy(
  policy: LooseObject<ValidatingAdmissionPolicy>,
): StatusCause[] {
  const found: Found = []
  const { spec = {} } = policy
  checkPolicyHead(spec, found)
  const validations = spec.validations ?? []
  if (validations.length === 0 && (spec.auditAnnotations ?? []).length === 0) {
    const detail = 'validations or auditAnnotations must be present'
    found.push(fieldRequired('spec.validations', `${detail}: must contain at least 1 item`))
  }
  for (const [at, { expression = '', reason }] of validations.entries()) {
    const path = `spec.validations[${at}]`
    if (!expression.trim())
      found.push(fieldRequired(`${path}.expression`, 'expression is not specified'))
    const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized']
    if (reason !== undefined && !reasons.includes(reason)) {
      found.push(fieldNotSupported(`${path}.reason`, reason, reasons))
    }
  }
  return found
}

export function validateMutatingPolicy(
  policy: LooseObject<MutatingAdmissionPolicy>,
): StatusCause[] {
  const found: Found = []
  const { spec = {} } = policy
  checkPolicyHead(spec, found)
  const mutations = spec.mutations ?? []
  if (mutations.length === 0) found.push(fieldRequired('spec.mutations'))
  for (const [at, { patchType = '' }] of mutations.entries()) {
    const types = ['ApplyConfiguration', 'JSONPatch']
    if (!types.includes(patchType)) {
      found.push(fieldNotSupported(`spec.mutations[${at}].patchType`, patchType, types))
    }
  }
  const policies = ['IfNeeded', 'Never']
  checkOneOf(spec.reinvocationPolicy ?? '', policies, 'spec.reinvocationPolicy', found)
  return found
}

interface PolicyHead {
  paramKind?: Loose<ParamKind>
  matchConstraints?: Loose<MatchResources>
  matchConditions?: { name?: string; expression?: string }[]
  failurePolicy?: string
}

function checkPolicyHead(spec: PolicyHead, found: Found): void {
  if (spec.paramKind) {
    checkNotEmpty(spec.paramKind.apiVersion, 'spec.paramKind.apiVersion', found)
    checkNotEmpty(spec.paramKind.kind, 'spec.paramKind.kind', found)
  }
  if (!spec.matchConstraints) {
    found.push(fieldRequired('spec.matchConstraints'))
  } else {
    checkMatch(spec.matchConstraints, 'spec.matchConstraints', found)
    if ((spec.matchConstraints.resourceRules ?? []).length === 0) {
      found.push(fieldRequired('spec.matchConstraints.resourceRules'))
    }
  }
  checkOneOf(spec.failurePolicy, ['Fail', 'Ignore'], 'spec.failurePolicy', found)
  checkMatchConditions(spec.matchConditions ?? [], 'spec.matchConditions', found)
}

function checkMatch(match: Loose<MatchResources>, path: string, found: Found): void {
  checkLabelSelector(match.namespaceSelector, `${path}.namespaceSelector`, found)
  checkLabelSelector(match.objectSelector, `${path}.objectSelector`, found)
  for (const list of ['resourceRules', 'excludeResourceRules'] as const) {
    for (const [at, rule] of (match[list] ?? []).entries()) {
      checkRule(rule, `${path}.${list}[${at}]`, found)
    }
  }
  checkOneOf(match.matchPolicy, ['Equivalent', 'Exact'], `${path}.matchPolicy`, found)
}

type AnyBinding = ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding

export function validateMutatingBinding(binding: LooseObject<AnyBinding>): StatusCause[] {
  const found: Found = []
  const { policyName, matchResources } = binding.spec ?? {}
  checkNotEmpty(policyName, 'spec.policyName', found)
  if (matchResources) checkMatch(matchResources, 'spec.matchResources', found)
  return found
}

export function validateValidatingBinding(
  binding: LooseObject<ValidatingAdmissionPolicyBinding>,
): StatusCause[] {
  const found = validateMutatingBinding(binding)
  const actions = binding.spec?.validationActions ?? []
  checkActions(actions, ['Audit', 'Deny', 'Warn'], 'spec.validationActions', found)
  return found
}
