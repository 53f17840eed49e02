import {
  checkPathSegment,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type ClusterRole,
  type ClusterRoleBinding,
  type PolicyRule,
  type RbacV1Subject,
  type Role,
  type RoleBinding,
  type StatusCause,
} from '@skerry/api'
import { addInvalid, checkNotEmpty, checkSubdomainField, isSame, type Found } from '../checks.ts'
import { checkLabelSelector } from '../label-checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

export function validateRole(role: LooseObject<Role>): StatusCause[] {
  const found: Found = []
  for (const [at, rule] of (role.rules ?? []).entries()) {
    checkPolicyRule(rule, true, `rules[${at}]`, found)
  }
  return found
}

export function validateClusterRole(role: LooseObject<ClusterRole>): StatusCause[] {
  const found: Found = []
  for (const [at, rule] of (role.rules ?? []).entries()) {
    checkPolicyRule(rule, false, `rules[${at}]`, found)
  }
  if (!role.aggregationRule) return found
  const selectors = role.aggregationRule.clusterRoleSelectors ?? []
  const field = 'aggregationRule.clusterRoleSelectors'
  if (selectors.length === 0) {
    const detail = 'at least one clusterRoleSelector required if aggregationRule is non-nil'
    found.push(fieldRequired(field, detail))
  }
  for (const [at, selector] of selectors.entries()) {
    checkLabelSelector(selector, `${field}[${at}]`, found)
  }
  return found
}

function checkPolicyRule(
  rule: Loose<PolicyRule>,
  isNamespaced: boolean,
  path: string,
  found: Found,
): void {
  const { nonResourceURLs: urls = [], apiGroups = [], resources = [] } = rule
  if (!rule.verbs?.length) {
    found.push(fieldRequired(`${path}.verbs`, 'verbs must contain at least one value'))
  }
  if (urls.length > 0) {
    const field = `${path}.nonResourceURLs`
    if (isNamespaced) {
      const detail = 'namespaced rules cannot apply to non-resource URLs'
      found.push(fieldInvalid(field, urls, detail))
    }
    if (apiGroups.length + resources.length + (rule.resourceNames ?? []).length > 0) {
      const detail = 'rules cannot apply to both regular resources and non-resource URLs'
      found.push(fieldInvalid(field, urls, detail))
    }
    return
  }
  if (apiGroups.length === 0) {
    const detail = 'resource rules must supply at least one api group'
    found.push(fieldRequired(`${path}.apiGroups`, detail))
  }
  if (resources.length === 0) {
    const detail = 'resource rules must supply at least one resource'
    found.push(fieldRequired(`${path}.resources`, detail))
  }
}

type AnyBinding = RoleBinding | ClusterRoleBinding

export function validateRoleBinding(binding: LooseObject<AnyBinding>): StatusCause[] {
  return validateBinding(binding, true)
}

export function validateClusterRoleBinding(binding: LooseObject<AnyBinding>): StatusCause[] {
  return validateBinding(binding, false)
}

function validateBinding(binding: LooseObject<AnyBinding>, isNamespaced: boolean): StatusCause[] {
  const found: Found = []
  const { apiGroup = '', kind = '', name = '' } = binding.roleRef ?? {}
  if (apiGroup !== rbacGroup) {
    found.push(fieldNotSupported('roleRef.apiGroup', apiGroup, [rbacGroup]))
  }
  const kinds = isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  if (!kinds.includes(kind)) found.push(fieldNotSupported('roleRef.kind', kind, kinds))
  if (checkNotEmpty(name, 'roleRef.name', found)) {
    addInvalid(found, 'roleRef.name', name, checkPathSegment(name))
  }
  for (const [at, subject] of (binding.subjects ?? []).entries()) {
    checkSubject(subject, isNamespaced, `subjects[${at}]`, found)
  }
  return found
}

function checkSubject(
  subject: Loose<RbacV1Subject>,
  isNamespaced: boolean,
  path: string,
  found: Found,
): void {
  const { kind = '', name = '', apiGroup = '', namespace = '' } = subject
  checkNotEmpty(name, `${path}.name`, found)
  if (kind === 'ServiceAccount') {
    if (name) checkSubdomainField(name, `${path}.name`, found)
    if (apiGroup) found.push(fieldNotSupported(`${path}.apiGroup`, apiGroup, ['']))
    if (!isNamespaced && !namespace) found.push(fieldRequired(`${path}.namespace`))
  } else if (kind === 'User' || kind === 'Group') {
    if (apiGroup === rbacGroup) return
    found.push(fieldNotSupported(`${path}.apiGroup`, apiGroup, [rbacGroup]))
  } else {
    found.push(fieldNotSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group']))
  }
}

/** Otherwise a user who may edit a binding could give its subjects any role. */
export function checkRoleRefUnchanged(
  next: LooseObject<AnyBinding>,
  old: LooseObject<AnyBinding>,
): StatusCause[] {
  if (isSame(next.roleRef, old.roleRef)) return []
  const { apiGroup = '', kind = '', name = '' } = next.roleRef ?? {}
  const shown = { APIGroup: apiGroup, Kind: kind, Name: name }
  return [fieldInvalid('roleRef', shown, 'cannot change roleRef')]
}
