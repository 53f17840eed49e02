/** The prefix of the group of a bootstrap token with which a node of one name gets a certificate, and no other. */
const prefix = 'system:bootstrappers:skerry:node:'

/** Returns the group of a token for one node. No name of a node has a colon, and no group of a token a dot. */
export function nodeNameGroup(nodeName: string): string {
  return `${prefix}${nodeName.replaceAll('.', ':')}`
}

/** Reports whether the bearer of a token may join under a name: any, unless the token is for certain ones. */
export function mayJoinAs(groups: readonly string[], nodeName: string): boolean {
  const named = groups.filter((group) => group.startsWith(prefix))
  return named.length === 0 || named.includes(nodeNameGroup(nodeName))
}
