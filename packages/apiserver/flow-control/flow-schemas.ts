import type {
  FlowSchema,
  FlowcontrolV1Subject,
  NonResourcePolicyRule,
  ResourcePolicyRule,
} from '@skerry/api'
import type { UserInfo } from '../contract/access.ts'
import { splitServiceAccountName } from '../contract/user-names.ts'
import type { RequestInfo } from '../contract/request-info.ts'

/** Sorts schemas in matching order: by precedence, then by name. */
export function inOrder(schemas: readonly FlowSchema[]): FlowSchema[] {
  const precedence = ({ spec }: FlowSchema): number => spec?.matchingPrecedence ?? 1000
  const name = ({ metadata }: FlowSchema): string => metadata?.name ?? ''
  return schemas.toSorted((a, b) => precedence(a) - precedence(b) || (name(a) < name(b) ? -1 : 1))
}

export function schemaMatches(schema: FlowSchema, user: UserInfo, info: RequestInfo): boolean {
  return (schema.spec?.rules ?? []).some(
    ({ subjects, resourceRules = [], nonResourceRules = [] }) =>
      subjects.some((subject) => subjectMatches(subject, user)) &&
      (info.isResourceRequest
        ? resourceRules.some((rule) => resourceMatches(rule, info))
        : nonResourceRules.some((rule) => pathMatches(rule, info))),
  )
}

/** Returns the flow of a request. Requests of one flow wait for each other; those of others do not. */
export function flowOf(schema: FlowSchema, user: UserInfo, info: RequestInfo): string {
  const type = schema.spec?.distinguisherMethod?.type
  const by = type === 'ByUser' ? user.name : type === 'ByNamespace' ? info.namespace : ''
  return `${schema.metadata?.name ?? ''}\n${by}`
}

function subjectMatches(subject: FlowcontrolV1Subject, user: UserInfo): boolean {
  if (subject.kind === 'User') {
    const name = subject.user?.name
    return name === '*' || name === user.name
  }
  if (subject.kind === 'Group') {
    const name = subject.group?.name ?? ''
    return name === '*' || user.groups.includes(name)
  }
  const account = splitServiceAccountName(user.name)
  const { namespace, name } = subject.serviceAccount ?? { namespace: '', name: '' }
  return account?.namespace === namespace && (name === '*' || account.name === name)
}

function resourceMatches(rule: ResourcePolicyRule, info: RequestInfo): boolean {
  const { resource, group } = info.resource
  const whole = info.subresource === '' ? resource : `${resource}/${info.subresource}`
  const isInScope =
    info.namespace === '' ? rule.clusterScope === true : has(rule.namespaces ?? [], info.namespace)
  return (
    isInScope &&
    has(rule.verbs, info.verb) &&
    has(rule.apiGroups, group) &&
    has(rule.resources, whole)
  )
}

function pathMatches(rule: NonResourcePolicyRule, info: RequestInfo): boolean {
  if (!has(rule.verbs, info.verb)) return false
  return rule.nonResourceURLs.some((url) => {
    if (url === '*' || url === info.path) return true
    return url.endsWith('/*') && info.path.startsWith(url.slice(0, -1))
  })
}

function has(list: readonly string[], text: string): boolean {
  return list.includes('*') || list.includes(text)
}
