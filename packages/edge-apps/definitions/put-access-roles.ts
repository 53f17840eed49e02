import { equalJson, type ClusterRole } from '@skerry/api'
import type { Logger } from '@skerry/base'
import { ifThere, resources, type ClusterClient } from '@skerry/client'
import { accessRoles } from './access-roles.ts'
import { ownerLabel, type DefinedKind } from './definition.ts'

interface RoleDeps {
  readonly cluster: ClusterClient
  readonly log: Logger
}

const roles = resources.clusterRoles

/** Makes the roles as these kinds need them. Roles that are right already are not written. */
export async function putAccessRoles(
  kinds: readonly DefinedKind[],
  { cluster, log }: RoleDeps,
  signal: AbortSignal,
): Promise<void> {
  const client = cluster.resource(roles)
  for (const role of accessRoles(kinds)) {
    const { name = '', labels } = role.metadata
    const known = await ifThere(client.get({ name }, signal))
    if (!known) {
      await client.create(role, signal)
      log.info('Role for edge applications made', { role: name })
    } else if (!equalJson(known.rules ?? [], role.rules) || !hasLabels(known, labels)) {
      const metadata = { ...known.metadata, labels: { ...known.metadata.labels, ...labels } }
      await client.update({ ...known, metadata, rules: role.rules ?? [] }, signal)
    }
  }
}

function hasLabels(
  { metadata }: ClusterRole,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value)
}

/** Takes the roles of this program away. */
export async function removeAccessRoles(
  { cluster }: Pick<RoleDeps, 'cluster'>,
  signal: AbortSignal,
): Promise<void> {
  const client = cluster.resource(roles)
  const { items } = await client.list({ labelSelector: `${ownerLabel}=true` }, signal)
  for (const { metadata } of items) {
    await ifThere(client.delete({ name: metadata.name ?? '' }, signal))
  }
}
