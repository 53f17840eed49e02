import {
  checkDnsSubdomain,
  checkPathSegment,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type MutatingAdmissionPolicyBinding,
  type ParamRef,
  type StatusCause,
  type ValidatingAdmissionPolicyBinding,
} from '@skerry/api'
import { addInvalid, checkOneOf, type Found } from '../checks.ts'
import { checkLabelSelector } from '../label-checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { checkMatch } from './policy-validation.ts'

type AnyBinding = ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding

export function validateMutatingBinding(binding: LooseObject<AnyBinding>): StatusCause[] {
  const found: Found = []
  const { policyName, matchResources, paramRef } = binding.spec ?? {}
  const field = 'spec.policyName'
  if (policyName) addInvalid(found, field, policyName, checkDnsSubdomain(policyName))
  else found.push(fieldRequired(field))
  if (paramRef) checkParamRef(paramRef, 'spec.paramRef', found)
  if (matchResources) checkMatch(matchResources, 'spec.matchResources', found)
  return found
}

export function validateValidatingBinding(
  binding: LooseObject<ValidatingAdmissionPolicyBinding>,
): StatusCause[] {
  const found: Found = validateMutatingBinding(binding)
  checkActions(binding.spec?.validationActions ?? [], 'spec.validationActions', found)
  return found
}

function checkParamRef(paramRef: Loose<ParamRef>, path: string, found: Found): void {
  const { name = '', selector, parameterNotFoundAction: action } = paramRef
  const exclusive = 'name and selector are mutually exclusive'
  if (name !== '') {
    addInvalid(found, `${path}.name`, name, checkPathSegment(name))
    if (selector) found.push(fieldForbidden(`${path}.name`, exclusive))
  }
  if (selector) {
    checkLabelSelector(selector, `${path}.selector`, found)
    if (name !== '') found.push(fieldForbidden(`${path}.selector`, exclusive))
  }
  if (name === '' && !selector) {
    found.push(fieldRequired(path, 'one of name or selector must be specified'))
  }
  if (!action) found.push(fieldRequired(`${path}.parameterNotFoundAction`))
  else checkOneOf(action, ['Deny', 'Allow'], `${path}.parameterNotFoundAction`, found)
}

const supportedActions = ['Audit', 'Deny', 'Warn']

function checkActions(actions: readonly string[], field: string, found: Found): void {
  for (const [at, action] of actions.entries()) {
    const path = `${field}[${at}]`
    if (!supportedActions.includes(action)) {
      found.push(fieldNotSupported(path, action, supportedActions))
    }
    if (actions.indexOf(action) < at) found.push(fieldDuplicate(path, action))
  }
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const why =
      'repeating the same validation failure information in the API response and headers serves no purpose'
    found.push(fieldInvalid(field, actions, `must not contain both Deny and Warn (${why})`))
  }
  if (actions.length === 0) {
    found.push(fieldRequired(field, 'at least one validation action is required'))
  }
}
