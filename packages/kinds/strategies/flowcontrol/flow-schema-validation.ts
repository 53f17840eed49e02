import {
  checkDnsLabel,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type FlowSchema,
  type FlowcontrolV1Subject,
  type NonResourcePolicyRule,
  type PolicyRulesWithSubjects,
  type ResourcePolicyRule,
  type StatusCause,
} from '@skerry/api'
import { checkNotEmpty, checkSubdomainField, type Found } from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { kindsBounds } from '../../limits-table.ts'

const { precedenceMax } = kindsBounds.flowSchemaValidation

export function validateFlowSchema(schema: LooseObject<FlowSchema>): StatusCause[] {
  const found: Found = []
  const { spec = {} } = schema
  const { matchingPrecedence: precedence = 0, distinguisherMethod } = spec
  const field = 'spec.matchingPrecedence'
  if (precedence <= 0) found.push(fieldInvalid(field, precedence, 'must be a positive value'))
  if (precedence > precedenceMax) {
    found.push(fieldInvalid(field, precedence, `must not be greater than ${precedenceMax}`))
  }
  if (precedence === 1 && schema.metadata.name !== 'exempt') {
    const detail = "only the schema named 'exempt' may have matchingPrecedence 1"
    found.push(fieldInvalid(field, precedence, detail))
  }
  const methods = ['ByNamespace', 'ByUser']
  if (distinguisherMethod && !methods.includes(distinguisherMethod.type ?? '')) {
    const shown = { Type: distinguisherMethod.type ?? '' }
    found.push(fieldNotSupported('spec.distinguisherMethod.type', shown, methods))
  }
  const { name = '' } = spec.priorityLevelConfiguration ?? {}
  const levelField = 'spec.priorityLevelConfiguration.name'
  if (name) checkSubdomainField(name, levelField, found)
  else found.push(fieldRequired(levelField, 'must reference a priority level'))
  for (const [at, rule] of (spec.rules ?? []).entries()) {
    checkRules(rule, `spec.rules[${at}]`, found)
  }
  return found
}

function checkRules(rule: Loose<PolicyRulesWithSubjects>, path: string, found: Found): void {
  const { resourceRules = [], nonResourceRules = [] } = rule
  const subjects = rule.subjects ?? []
  if (subjects.length === 0) {
    found.push(fieldRequired(`${path}.subjects`, 'subjects must contain at least one value'))
  }
  for (const [at, subject] of subjects.entries()) {
    checkSubject(subject, `${path}.subjects[${at}]`, found)
  }
  if (resourceRules.length + nonResourceRules.length === 0) {
    const detail = 'at least one of resourceRules and nonResourceRules has to be non-empty'
    found.push(fieldRequired(path, detail))
  }
  for (const [at, item] of resourceRules.entries()) {
    checkResourceRule(item, `${path}.resourceRules[${at}]`, found)
  }
  for (const [at, item] of nonResourceRules.entries()) {
    checkNonResourceRule(item, `${path}.nonResourceRules[${at}]`, found)
  }
}

const fieldOfKind = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const

function checkSubject(subject: Loose<FlowcontrolV1Subject>, path: string, found: Found): void {
  const { kind = '' } = subject
  const names = Object.entries(fieldOfKind)
  const own = names.find(([name]) => name === kind)?.[1]
  if (own === undefined) {
    found.push(fieldNotSupported(`${path}.kind`, kind, ['Group', 'ServiceAccount', 'User']))
    return
  }
  const details = subject[own]
  if (!details) {
    const detail = `${own} is required when subject kind is '${kind}'`
    found.push(fieldRequired(`${path}.${own}`, detail))
  } else {
    checkNotEmpty(details.name, `${path}.${own}.name`, found)
    if (own === 'serviceAccount' && !subject.serviceAccount?.namespace) {
      const detail = 'must specify namespace for service account'
      found.push(fieldRequired(`${path}.${own}.namespace`, detail))
    }
  }
  for (const [name, field] of names) {
    if (field === own || !subject[field]) continue
    const detail = `${field} is forbidden when subject kind is not '${name}'`
    found.push(fieldForbidden(`${path}.${field}`, detail))
  }
}

const verbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'proxy',
  'update',
  'watch',
]

function checkVerbs(named: readonly string[], field: string, found: Found): void {
  if (named.length === 0) {
    found.push(fieldRequired(field, 'verbs must contain at least one value'))
  } else if (named.includes('*')) {
    checkOnly(named, 'verbs', field, found)
  } else if (!named.every((verb) => verbs.includes(verb))) {
    found.push(fieldNotSupported(field, named, verbs))
  }
}

function checkOnly(values: readonly string[], what: string, field: string, found: Found): void {
  if (values.length < 2 || !values.includes('*')) return
  found.push(fieldInvalid(field, values, `if '*' is present, must not specify other ${what}`))
}

function checkResourceRule(rule: Loose<ResourcePolicyRule>, path: string, found: Found): void {
  const [apiGroups, resources, namespaces] = [
    rule.apiGroups ?? [],
    rule.resources ?? [],
    rule.namespaces ?? [],
  ]
  checkVerbs(rule.verbs ?? [], `${path}.verbs`, found)
  if (apiGroups.length === 0) {
    const detail = 'resource rules must supply at least one api group'
    found.push(fieldRequired(`${path}.apiGroups`, detail))
  }
  checkOnly(apiGroups, 'api groups', `${path}.apiGroups`, found)
  if (resources.length === 0) {
    const detail = 'resource rules must supply at least one resource'
    found.push(fieldRequired(`${path}.resources`, detail))
  }
  checkOnly(resources, 'resources', `${path}.resources`, found)
  if (namespaces.length === 0 && !rule.clusterScope) {
    const detail = 'resource rules that are not cluster scoped must supply at least one namespace'
    found.push(fieldRequired(`${path}.namespaces`, detail))
  }
  checkOnly(namespaces, 'namespaces', `${path}.namespaces`, found)
  if (namespaces.includes('*')) return
  for (const [at, name] of namespaces.entries()) {
    for (const text of checkDnsLabel(name)) {
      const detail = `each member of this list must be '*' or a DNS-1123 label; ${text}`
      found.push(fieldInvalid(`${path}.namespaces[${at}]`, name, detail))
    }
  }
}

function checkNonResourceRule(
  rule: Loose<NonResourcePolicyRule>,
  path: string,
  found: Found,
): void {
  const urls = rule.nonResourceURLs ?? []
  checkVerbs(rule.verbs ?? [], `${path}.verbs`, found)
  if (urls.length === 0) {
    const detail = 'nonResourceURLs must contain at least one value'
    found.push(fieldRequired(`${path}.nonResourceURLs`, detail))
  }
  checkOnly(urls, 'non-resource URLs', `${path}.nonResourceURLs`, found)
}
