import { isStatusError, type KubeObject } from '@skerry/api'
import { resources, type ClusterClient, type TypedResource } from '@skerry/client'
import { impersonationRules } from '@skerry/membership'

/** The name of the role and of its binding at the cluster. */
const roleName = 'skerry-hub-impersonator'
/** The name that `karmadactl join` gives the service account whose token may impersonate users. */
const accountName = 'karmada-impersonator'
const group = 'rbac.authorization.k8s.io'
const metadata = { name: roleName, labels: { 'karmada.io/system': 'true' } }

/**
 * Gives that account the right to act as users of the hub, which join leaves to the control plane. The hub
 * chooses the user for each request.
 */
export async function allowImpersonator(
  member: ClusterClient,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const apiVersion = `${group}/v1`
  const rules = impersonationRules({})
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: roleName }
  const subjects = [{ kind: 'ServiceAccount', namespace, name: accountName }]
  const options = {
    name: roleName,
    type: 'apply',
    fieldManager: 'skerry-hub',
    force: true,
  } as const
  await member
    .resource(resources.clusterRoles)
    .patch({ ...options, patch: { apiVersion, kind: 'ClusterRole', metadata, rules } }, signal)
  await member.resource(resources.clusterRoleBindings).patch(
    {
      ...options,
      patch: { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
    },
    signal,
  )
}

/** Takes it away again; fine when it is gone. */
export async function forbidImpersonator(
  member: ClusterClient,
  signal: AbortSignal,
): Promise<void> {
  const kinds: readonly TypedResource<KubeObject>[] = [
    resources.clusterRoleBindings,
    resources.clusterRoles,
  ]
  for (const kind of kinds) {
    try {
      await member.resource(kind).delete({ name: roleName }, signal)
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
    }
  }
}
