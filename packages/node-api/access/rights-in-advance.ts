import type { UserInfo } from '@skerry/apiserver'
import type { KeptScope } from '../copies/kept-scope.ts'
import type { OfflinePolicy } from '../kinds/offline-writes.ts'
import { nodeApiBounds } from '../limits-table.ts'
import type { AskedRight } from './asked-right.ts'

const { inAdvanceMax } = nodeApiBounds.rights

/** The service account of a pod. */
export interface PodAccount {
  readonly namespace: string
  readonly name: string
}

export interface UserAndRight {
  readonly user: UserInfo
  readonly right: AskedRight
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
