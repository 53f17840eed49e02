import type { UserInfo } from './access.ts'

/** Groups to which Kubernetes gives a meaning. */
export const systemGroups = Object.freeze({
  authenticated: 'system:authenticated',
  unauthenticated: 'system:unauthenticated',
  masters: 'system:masters',
  nodes: 'system:nodes',
  serviceAccounts: 'system:serviceaccounts',
  bootstrappers: 'system:bootstrappers',
})

export const anonymousName = 'system:anonymous'

export const anonymousUser: UserInfo = Object.freeze({
  name: anonymousName,
  groups: Object.freeze([systemGroups.unauthenticated]),
  extra: Object.freeze({}),
})

const serviceAccountPrefix = 'system:serviceaccount:'

export function serviceAccountUserName(namespace: string, name: string): string {
  return `${serviceAccountPrefix}${namespace}:${name}`
}

export function serviceAccountGroups(namespace: string): string[] {
  return [systemGroups.serviceAccounts, `${systemGroups.serviceAccounts}:${namespace}`]
}

/** Returns undefined if the user name is not a service account's. */
export function splitServiceAccountName(
  userName: string,
): { namespace: string; name: string } | undefined {
  if (!userName.startsWith(serviceAccountPrefix)) return undefined
  const [namespace, name, ...more] = userName.slice(serviceAccountPrefix.length).split(':')
  if (!namespace || !name || more.length > 0) return undefined
  return { namespace, name }
}

const nodePrefix = 'system:node:'

/**
 * Returns the name of the node that this user is, which requires both the name's form and the
 * group. Returns an empty text if the name has the form without a node's name, and undefined if the
 * user is not a node.
 */
export function nodeNameOf(user: UserInfo): string | undefined {
  if (!user.name.startsWith(nodePrefix)) return undefined
  if (!user.groups.includes(systemGroups.nodes)) return undefined
  return user.name.slice(nodePrefix.length)
}

/** Keys of UserInfo.extra. */
export const extraKeys = Object.freeze({
  credentialId: 'authentication.kubernetes.io/credential-id',
  podName: 'authentication.kubernetes.io/pod-name',
  podUid: 'authentication.kubernetes.io/pod-uid',
  nodeName: 'authentication.kubernetes.io/node-name',
  nodeUid: 'authentication.kubernetes.io/node-uid',
  /** The node that has signed the user's token while its control plane was away. */
  signedByNode: 'authentication.skerry.io/signed-by-node',
})
