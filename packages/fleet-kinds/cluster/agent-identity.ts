import { checkDnsLabel } from '@skerry/api'

/** Every agent's certificate has this organization, and `system:karmada:agent:<cluster>` as its name. */
export const agentsGroup = 'system:karmada:agents'

/** Followed by the parent's name: the organization of a virtual cluster's certificate, and its only one. */
const virtualGroupPrefix = 'system:skerry:virtual-of:'
const agentUserPrefix = 'system:karmada:agent:'
const tokenGroupPrefix = 'system:bootstrappers:karmada:agent:'
const bootstrapUserPrefix = 'system:bootstrap:'
/** Of tokens that `karmadactl token create` makes: they name no cluster. */
const openTokenGroup = 'system:bootstrappers:karmada:default-cluster-token'
/** Not a cluster: in whose name `karmadactl register` would write an agent's roles. */
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

/** Whose agent this user is; undefined for everybody else. */
export function clusterOfAgent({ name, groups }: Asker): string | undefined {
  if (!groups.includes(agentsGroup) || !name.startsWith(agentUserPrefix)) return undefined
  return clusterNameOf(name.slice(agentUserPrefix.length))
}

/** Who a virtual cluster is, and whose agent answers for it. */
export interface VirtualAgent {
  readonly cluster: string
  readonly parent: string
}

export function virtualAgentGroup(parent: string): string {
  return `${virtualGroupPrefix}${parent}`
}

/** Which virtual cluster this user is; undefined for everybody else, agents of whole clusters too. */
export function virtualAgentOf({ name, groups }: Asker): VirtualAgent | undefined {
  if (!name.startsWith(agentUserPrefix) || groups.includes(agentsGroup)) return undefined
  const [group, ...others] = groups.filter((each) => each.startsWith(virtualGroupPrefix))
  if (group === undefined || others.length > 0) return undefined
  const cluster = clusterNameOf(name.slice(agentUserPrefix.length))
  const parent = clusterNameOf(group.slice(virtualGroupPrefix.length))
  return cluster === undefined || parent === undefined ? undefined : { cluster, parent }
}

/** Of which cluster, whole or virtual, this user tells the hub how it is; undefined for everybody else. */
export function clusterOfReporter(asker: Asker): string | undefined {
  return clusterOfAgent(asker) ?? virtualAgentOf(asker)?.cluster
}

/** Whether it comes before an agent of Karmada's, to make roles that agents of a hub do not need. */
export function isRoleGenerator({ name, groups }: Asker): boolean {
  return name === roleGeneratorName && groups.includes(agentsGroup)
}

/** A token by which any cluster may register whose name is free. */
export function isOpenToken({ name, groups }: Asker): boolean {
  return name.startsWith(bootstrapUserPrefix) && groups.includes(openTokenGroup)
}

/** For which cluster this user, a bootstrap token, may ask a certificate. */
export function clusterOfToken({ name, groups }: Asker): string | undefined {
  if (!name.startsWith(bootstrapUserPrefix)) return undefined
  const [group, ...others] = groups.filter((each) => each.startsWith(tokenGroupPrefix))
  if (group === undefined || others.length > 0) return undefined
  return clusterNameOf(group.slice(tokenGroupPrefix.length))
}

function clusterNameOf(text: string): string | undefined {
  return checkDnsLabel(text).length === 0 && text !== generatorName ? text : undefined
}
