import type { TunnelHeaders } from '@skerry/tunnel'
import { tokenIdKey } from '@skerry/fleet-kinds'

/** The users whom an agent may impersonate in its cluster, by its operator's choice. */
export interface ImpersonationPolicy {
  /**
   * Only these users. If omitted, every user. Service accounts are written as
   * system:serviceaccount:<namespace>:<name>.
   */
  readonly users?: readonly string[]
  /** A user in any other group is refused, too. If omitted, every group is allowed. */
  readonly groups?: readonly string[]
  /** A user in one of these groups is refused, whatever else is allowed. */
  readonly deniedGroups?: readonly string[]
}

/** An rbac.authorization.k8s.io/v1 PolicyRule. */
export interface PolicyRule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly verbs: readonly string[]
}

const serviceAccountPrefix = 'system:serviceaccount:'

/** The extras that a hub sends in addition to names and groups. RBAC has no pattern for "any key". */
const extraKeys = Object.freeze([
  'authentication.kubernetes.io/credential-id',
  'authentication.kubernetes.io/node-name',
  'authentication.kubernetes.io/node-uid',
  'authentication.kubernetes.io/pod-name',
  'authentication.kubernetes.io/pod-uid',
  tokenIdKey,
])

/**
 * Returns why a request may not pass, in words for its sender; undefined if it may. It is checked before the
 * API server is called, so a refused request never reaches the cluster.
 */
export function impersonationRefusal(
  policy: ImpersonationPolicy,
  headers: TunnelHeaders,
): string | undefined {
  const [user = '', ...others] = valuesOf(headers, 'impersonate-user')
  if (user === '' || others.length > 0) return 'it names no user to impersonate'
  if (policy.users && !policy.users.includes(user)) {
    return `the cluster's agent does not act as user ${JSON.stringify(user)}`
  }
  const groups = valuesOf(headers, 'impersonate-group')
  const group = groups.find(
    (each) =>
      policy.deniedGroups?.includes(each) || (policy.groups && !policy.groups.includes(each)),
  )
  if (group === undefined) return undefined
  return `the cluster's agent does not act for group ${JSON.stringify(group)}`
}

/** Headers carry UTF-8 as bytes. */
function valuesOf(headers: TunnelHeaders, name: string): string[] {
  const value = headers[name] ?? []
  const texts = typeof value === 'string' ? [value] : value
  return texts.map((text) => Buffer.from(text, 'latin1').toString('utf8'))
}

/**
 * The rights that carry the policy out at the API server. RBAC cannot except a name from all:
 * `deniedGroups` without `groups` is kept by the agent alone.
 */
export function impersonationRules({ users, groups, deniedGroups = [] }: ImpersonationPolicy) {
  const accounts = users?.flatMap((name) =>
    name.startsWith(serviceAccountPrefix) ? (name.split(':')[3] ?? []) : [],
  )
  const people = users?.filter((name) => !name.startsWith(serviceAccountPrefix))
  const allowed = groups?.filter((name) => !deniedGroups.includes(name))
  return [
    ...ruleFor('', 'users', people),
    ...ruleFor('', 'serviceaccounts', accounts),
    ...ruleFor('', 'groups', allowed),
    ...ruleFor('authentication.k8s.io', 'uids', undefined),
    ...extraKeys.flatMap((key) => ruleFor('authentication.k8s.io', `userextras/${key}`, undefined)),
  ]
}

/** An empty list of names would mean every name: then there is no rule. */
function ruleFor(
  apiGroup: string,
  resource: string,
  names: readonly string[] | undefined,
): PolicyRule[] {
  if (names?.length === 0) return []
  const rule = { apiGroups: [apiGroup], resources: [resource], verbs: ['impersonate'] }
  return [names === undefined ? rule : { ...rule, resourceNames: [...names] }]
}

/**
 * The rights with which an agent finds the services that its operator allows; they cover all namespaces,
 * whichever services are allowed.
 */
export const serviceRules: readonly PolicyRule[] = Object.freeze([
  { apiGroups: [''], resources: ['services'], verbs: ['get'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list'] },
])

/** The rights with which an agent reports its cluster's status; pods are the only users' objects among them. */
export const reportingRules: readonly PolicyRule[] = Object.freeze([
  { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
  {
    nonResourceURLs: ['/readyz', '/version', '/api', '/api/*', '/apis', '/apis/*'],
    verbs: ['get'],
  },
])
