import type { Authorizer } from '@skerry/apiserver'

/** The certificate of a hub's replica has this organization, and `system:hub-replica:<id>` as its name. */
export const replicasGroup = 'system:hub-replicas'
const replicaUserPrefix = 'system:hub-replica:'

/**
 * The path under which replicas open tunnels to each other: `/tunnel/v1/replicas/<id>`, with the id of the
 * one that dials.
 */
export const replicaPrefix = '/tunnel/v1/replicas/'

/** The id of one running process; after a restart it is another replica. */
export const replicaIdShape = /^[0-9a-f]{16}$/

export function replicaUserName(id: string): string {
  return `${replicaUserPrefix}${id}`
}

/** Returns the id of the replica that this user is, or undefined for any other user. */
export function replicaOfUser(user: {
  readonly name: string
  readonly groups: readonly string[]
}): string | undefined {
  if (!user.groups.includes(replicasGroup) || !user.name.startsWith(replicaUserPrefix))
    return undefined
  const id = user.name.slice(replicaUserPrefix.length)
  return replicaIdShape.test(id) ? id : undefined
}

/** Allows a replica to open its own tunnel to another one, and nothing else. */
export const replicaAuthorizer: Authorizer = {
  async authorize({ user, isResourceRequest, verb, path }) {
    const id = replicaOfUser(user)
    const isOwn = id !== undefined && path === `${replicaPrefix}${id}`
    const allowed = isOwn && !isResourceRequest && verb === 'get'
    return { verdict: allowed ? 'allow' : 'no-opinion', reason: '' }
  },
}
