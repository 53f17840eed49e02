import { checkDnsLabel } from '@skerry/api'

/** Every agent's certificate has this organization, and `system:karmada:agent:<cluster>` as its name. */
export const agentsGroup = 'system:karmada:agents'

const agentUserPrefix = 'system:karmada:agent:'
const tokenGroupPrefix = 'system:bootstrappers:karmada:agent:'
const bootstrapUserPrefix = 'system:bootstrap:'

interface Asker {
  readonly name: string
  readonly groups: readonly string[]
}

export function agentUserName(clusterName: string): string {
  return `${agentUserPrefix}${clusterName}`
}

/** The group of a bootstrap token with which one cluster may register, and no other. */
export function agentTokenGroup(clusterName: string): string {
  return `${tokenGroupPrefix}${clusterName}`
}

/** Whose agent this user is; undefined for everybody else. */
export function clusterOfAgent({ name, groups }: Asker): string | undefined {
  if (!groups.includes(agentsGroup) || !name.startsWith(agentUserPrefix)) return undefined
  return clusterNameOf(name.slice(agentUserPrefix.length))
}

/** For which cluster this user, a bootstrap token, may ask a certificate. */
export function clusterOfToken({ name, groups }: Asker): string | undefined {
  if (!name.startsWith(bootstrapUserPrefix)) return undefined
  const [group, ...others] = groups.filter((each) => each.startsWith(tokenGroupPrefix))
  if (group === undefined || others.length > 0) return undefined
  return clusterNameOf(group.slice(tokenGroupPrefix.length))
}

function clusterNameOf(text: string): string | undefined {
  return checkDnsLabel(text).length === 0 ? text : undefined
}
