import { checkDnsLabel } from '@skerry/api'

/** The organization of every agent's certificate; its common name is `system:karmada:agent:<cluster>`. */
export const agentsGroup = 'system:karmada:agents'

/** The prefix of a virtual cluster's only organization, followed by the parent's name. */
const virtualGroupPrefix = 'system:skerry:virtual-of:'
const agentUserPrefix = 'system:karmada:agent:'
const tokenGroupPrefix = 'system:bootstrappers:karmada:agent:'
const bootstrapUserPrefix = 'system:bootstrap:'
/** The group of tokens that `karmadactl token create` makes, which name no cluster. */
const openTokenGroup = 'system:bootstrappers:karmada:default-cluster-token'
/** This is not a cluster: it is the name under which `karmadactl register` would write an agent's roles. */
const generatorName = 'rbac-generator'
export const roleGeneratorName = `${agentUserPrefix}${generatorName}`

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

/** Returns the cluster whose agent this user is, or undefined for any other user. */
export function clusterOfAgent({ name, groups }: Asker): string | undefined {
  if (!groups.includes(agentsGroup) || !name.startsWith(agentUserPrefix)) return undefined
  return clusterNameOf(name.slice(agentUserPrefix.length))
}

/** A virtual cluster, and the parent whose agent answers for it. */
export interface VirtualAgent {
  readonly cluster: string
  readonly parent: string
}

export function virtualAgentGroup(parent: string): string {
  return `${virtualGroupPrefix}${parent}`
}

/**
 * Returns the virtual cluster that this user is, or undefined for any other user, including agents of whole
 * clusters.
 */
export function virtualAgentOf({ name, groups }: Asker): VirtualAgent | undefined {
  if (!name.startsWith(agentUserPrefix) || groups.includes(agentsGroup)) return undefined
  const [group, ...others] = groups.filter((each) => each.startsWith(virtualGroupPrefix))
  if (group === undefined || others.length > 0) return undefined
  const cluster = clusterNameOf(name.slice(agentUserPrefix.length))
  const parent = clusterNameOf(group.slice(virtualGroupPrefix.length))
  return cluster === undefined || parent === undefined ? undefined : { cluster, parent }
}

/** Returns the cluster, whole or virtual, whose status this user reports, or undefined for any other user. */
export function clusterOfReporter(asker: Asker): string | undefined {
  return clusterOfAgent(asker) ?? virtualAgentOf(asker)?.cluster
}

/**
 * Reports whether this user creates roles on behalf of a Karmada agent that is about to register; agents of a
 * hub do not need them.
 */
export function isRoleGenerator({ name, groups }: Asker): boolean {
  return name === roleGeneratorName && groups.includes(agentsGroup)
}

/** Reports whether this is a token with which any cluster may register under a free name. */
export function isOpenToken({ name, groups }: Asker): boolean {
  return name.startsWith(bootstrapUserPrefix) && groups.includes(openTokenGroup)
}

/** Returns the cluster for which this user, a bootstrap token, may request a certificate. */
export function clusterOfToken({ name, groups }: Asker): string | undefined {
  if (!name.startsWith(bootstrapUserPrefix)) return undefined
  const [group, ...others] = groups.filter((each) => each.startsWith(tokenGroupPrefix))
  if (group === undefined || others.length > 0) return undefined
  return clusterNameOf(group.slice(tokenGroupPrefix.length))
}

function clusterNameOf(text: string): string | undefined {
  return checkDnsLabel(text).length === 0 && text !== generatorName ? text : undefined
}
