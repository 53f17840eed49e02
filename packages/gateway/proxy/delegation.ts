import { isStatusError } from '@skerry/api'
import {
  impersonatedUser,
  type Attributes,
  type Authorizer,
  type Impersonation,
  type UserInfo,
} from '@skerry/apiserver'
import { clusterResource } from '@skerry/fleet-kinds'
import { clustersPrefix, parseClusterTarget } from './cluster-path.ts'

/**
 * A user who may `impersonate` it names the requesting user at that one cluster, as Karmada does for its own
 * users. It is a separate subresource, so that rights to clusters/proxy, however wide, do not include it.
 */
export const delegatesResource = 'clusters/users'

export interface Delegation {
  /** Lets a delegate name any user in requests to its cluster, and nowhere else. */
  readonly impersonation: (usual: Impersonation, authorizer: Authorizer) => Impersonation
  /** Allows the named users to reach that cluster: the delegate has decided whether they may. */
  readonly authorizer: Authorizer
}

export function createDelegation(): Delegation {
  /** Maps a user, as named in one request, to that request's cluster. */
  const named = new WeakMap<UserInfo, string>()
  return {
    impersonation: (usual, authorizer) => ({
      async apply(asker, fields, target = '', own) {
        try {
          return await usual.apply(asker, fields, target, own)
        } catch (error) {
          if (!isStatusError(error, 'Forbidden') || !target.startsWith(clustersPrefix)) throw error
          const { cluster } = parseClusterTarget(target)
          const { verdict } = await authorizer.authorize(question(asker, cluster))
          const user = impersonatedUser(fields)
          if (verdict !== 'allow' || user === undefined) throw error
          named.set(user, cluster)
          return user
        }
      },
    }),
    authorizer: {
      async authorize({ user, resource, subresource, name }) {
        const cluster = named.get(user)
        const isOwn =
          cluster !== undefined &&
          cluster === name &&
          resource?.group === clusterResource.group &&
          resource.resource === clusterResource.resource &&
          subresource === 'proxy'
        return { verdict: isOwn ? 'allow' : 'no-opinion', reason: '' }
      },
    },
  }
}

function question(user: UserInfo, name: string): Attributes {
  return {
    user,
    verb: 'impersonate',
    isResourceRequest: true,
    resource: clusterResource,
    subresource: 'users',
    name,
    namespace: '',
    path: '',
  }
}
