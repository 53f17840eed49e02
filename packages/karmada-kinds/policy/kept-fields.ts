import { equalJson, isJsonObject, memberOf, type AnyObject } from '@skerry/api'

/**
 * The fields that a policy of a namespace leaves as they are: they say what an object is and where it
 * belongs. A cluster applies whatever a Work names with the agent's rights, so a ConfigMap that
 * becomes a ClusterRoleBinding on the way would make its writer an administrator there.
 */
export const identityFields: readonly (readonly string[])[] = Object.freeze([
  ['apiVersion'],
  ['kind'],
  ['metadata', 'name'],
  ['metadata', 'namespace'],
])

const rbacGroup = 'rbac.authorization.k8s.io/'

/** Kinds that grant or limit rights: the hub has checked whether their writer may write just that. */
function isGuardedKind({ apiVersion, kind }: Pick<AnyObject, 'apiVersion' | 'kind'>): boolean {
  const isQuota = apiVersion === 'v1' && (kind === 'ResourceQuota' || kind === 'LimitRange')
  return isQuota || apiVersion.startsWith(rbacGroup)
}

/** The first field that differs although it is to be kept; undefined if none does. Pure. */
export function changedKeptField(before: AnyObject, after: AnyObject): string | undefined {
  const identity = identityFields.find((path) => valueAt(before, path) !== valueAt(after, path))
  if (identity) return identity.join('.')
  if (!isGuardedKind(before)) return undefined
  const members = new Set([...Object.keys(before), ...Object.keys(after)])
  members.delete('metadata')
  return [...members].find((member) => !equalJson(before[member] ?? null, after[member] ?? null))
}

function valueAt(object: AnyObject, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, step) => (isJsonObject(value) ? memberOf(value, step) : undefined),
    object,
  )
}
