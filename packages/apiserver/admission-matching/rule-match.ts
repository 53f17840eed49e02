import type { NamedRuleWithOperations } from '@skerry/api'
import type { AdmissionRequest, ServedResource } from '../contract/admission.ts'

/** A rule of a webhook, or of an admission policy. */
export type AdmissionRule = NamedRuleWithOperations

/** The request as if it were for this resource. */
export type RuleSubject = Pick<AdmissionRequest, 'operation' | 'subresource' | 'namespace'> &
  Pick<ServedResource, 'resource'>

/** Matches operation, scope, group, version and resource of one rule; the caller checks names. */
export function matchesRule(rule: AdmissionRule, subject: RuleSubject): boolean {
  const { group, version } = subject.resource
  return (
    matchesScope(rule.scope ?? '*', subject) &&
    includes(rule.operations, subject.operation) &&
    includes(rule.apiGroups, group) &&
    includes(rule.apiVersions, version) &&
    (rule.resources ?? []).some((text) => matchesResource(text, subject))
  )
}

function includes(values: readonly string[] = [], wanted: string): boolean {
  return values.includes('*') || values.includes(wanted)
}

/** A namespace is cluster-scoped, though its requests name a namespace: its own. */
function matchesScope(scope: string, { namespace, resource }: RuleSubject): boolean {
  if (scope === '*') return true
  const isNamespace =
    resource.group === '' && resource.version === 'v1' && resource.resource === 'namespaces'
  const isNamespaced = !isNamespace && namespace !== ''
  return scope === 'Namespaced' ? isNamespaced : !isNamespaced
}

function matchesResource(text: string, { resource, subresource }: RuleSubject): boolean {
  const slash = text.indexOf('/')
  const name = slash < 0 ? text : text.slice(0, slash)
  const part = slash < 0 ? '' : text.slice(slash + 1)
  return (name === '*' || name === resource.resource) && (part === '*' || part === subresource)
}
