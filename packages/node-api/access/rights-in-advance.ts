import type { UserInfo } from '@skerry/apiserver'
import type { KeptScope } from '../copies/kept-scope.ts'
import type { OfflinePolicy } from '../kinds/offline-writes.ts'
import { nodeApiBounds } from '../limits-table.ts'
import type { AskedRight } from './asked-right.ts'

const { inAdvanceMax, inAbsenceMax, usersMax } = nodeApiBounds.rights

/** The service account of a pod. */
export interface PodAccount {
  readonly namespace: string
  readonly name: string
}

export interface UserAndRight {
  readonly user: UserInfo
  readonly right: AskedRight
  /** True for a right that hardly anybody has: a refusal is then asked for again after a long time only. */
  readonly isRare?: boolean
}

/**
 * Returns the rights that pods of this node may need to read what an operator named, and to read and write
 * what a policy permits, whether or not they have them. An account may read a resource everywhere, or in its own namespace.
 */
export function rightsInAdvance(
  kept: readonly KeptScope[],
  policies: readonly OfflinePolicy[],
  accounts: readonly PodAccount[],
): readonly UserAndRight[] {
  const distinct = new Map(accounts.map((each) => [`${each.namespace}/${each.name}`, each]))
  const all = [...distinct.values()].flatMap((account) => [
    ...policies.flatMap((policy) => writesOf(account, policy)),
    ...kept.flatMap((scope) => rightsOf(account, scope)),
  ])
  return all.slice(0, inAdvanceMax)
}

/**
 * Returns the rights that users who were seen here may need while the control plane is away: to look into pods of this
 * node, to ask who may do what, and to request tokens. A role gives them for all namespaces, or for one that has
 * pods on this node.
 */
export function rightsInAbsence(
  users: readonly UserInfo[],
  accounts: readonly PodAccount[],
): readonly UserAndRight[] {
  const namespaces = ['', ...new Set(accounts.map(({ namespace }) => namespace))]
  const asking = users.filter(({ name }) => name.startsWith('system:serviceaccount:'))
  const all = asking.slice(0, usersMax).flatMap((user) => [
    ...reviews.map((right) => ({ user, right: { ...everyObject, ...right }, isRare: true })),
    ...namespaces.flatMap((namespace) =>
      podRights.map((right) => ({
        user,
        right: { ...everyObject, ...right, group: '', namespace },
        isRare: true,
      })),
    ),
  ])
  return all.slice(0, inAbsenceMax)
}

const podRights = [
  // kubectl reads the pod before its log.
  { verb: 'get', resource: 'pods' },
  { verb: 'get', resource: 'pods', subresource: 'log' },
  { verb: 'create', resource: 'pods', subresource: 'exec' },
  { verb: 'create', resource: 'pods', subresource: 'attach' },
  { verb: 'create', resource: 'pods', subresource: 'portforward' },
  { verb: 'create', resource: 'serviceaccounts', subresource: 'token' },
]

const reviews = [
  { group: 'authentication.k8s.io', resource: 'tokenreviews' },
  { group: 'authorization.k8s.io', resource: 'subjectaccessreviews' },
].map((each) => ({ ...each, verb: 'create', namespace: '' }))

function writesOf(account: PodAccount, policy: OfflinePolicy): UserAndRight[] {
  const isNamed = policy.serviceAccounts.some(
    ({ namespace, name }) => namespace === account.namespace && name === account.name,
  )
  if (!isNamed) return []
  const user = userOf(account)
  return policy.resources.flatMap(({ apiGroup: group = '', resource }) =>
    policy.namespaces.flatMap((namespace) =>
      ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'].map((verb) => ({
        user,
        right: { verb, group, resource, namespace, ...everyObject },
      })),
    ),
  )
}

function rightsOf(account: PodAccount, scope: KeptScope): UserAndRight[] {
  const { group, resource } = scope
  const user = userOf(account)
  const namespaces = scope.namespace === '' ? ['', account.namespace] : [scope.namespace]
  return namespaces.flatMap((namespace) =>
    ['get', 'list', 'watch'].map((verb) => ({
      user,
      right: { verb, group, resource, namespace, ...everyObject },
    })),
  )
}

const everyObject = Object.freeze({ name: '', labelSelector: '', fieldSelector: '', path: '' })

/** Returns the user as the control plane names it for a token of the account. */
function userOf({ namespace, name }: PodAccount): UserInfo {
  const accounts = 'system:serviceaccounts'
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: [accounts, `${accounts}:${namespace}`, 'system:authenticated'],
    extra: {},
  }
}
