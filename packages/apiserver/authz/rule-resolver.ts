import type {
  ClusterRole,
  ClusterRoleBinding,
  GroupResource,
  PolicyRule,
  RbacV1Subject,
  Role,
  RoleBinding,
  RoleRef,
} from '@skerry/api'
import type { UserInfo } from '../contract/access.ts'
import type { Objects } from '../contract/objects.ts'
import { getTyped, listTyped } from '../contract/typed-objects.ts'
import { serviceAccountUserName } from '../contract/user-names.ts'
import { wellKnown } from '../contract/well-known-resources.ts'

/** One rule that a user has, and the reason. */
export interface GrantedRule {
  readonly rule: PolicyRule
  readonly reason: string
}

export interface RuleResolver {
  /**
   * Returns the rules of a user: cluster-wide ones and, with a namespace, also that namespace's.
   * Bindings to missing roles are reported to `onMissing` and skipped.
   */
  rulesFor(
    user: UserInfo,
    namespace: string,
    onMissing: (message: string) => void,
  ): Iterable<GrantedRule>
  /** Returns undefined if the role does not exist. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined
}

/** A binding, listed under one of its subjects. */
interface Grant {
  readonly roleRef: RoleRef
  readonly reason: string
}
type GrantIndex = ReadonlyMap<string, readonly Grant[]>

/** Bindings are indexed by subject once per version of their resource; roles are read on demand. */
export function createRuleResolver(objects: Objects): RuleResolver {
  const clusterGrants = memoise(objects, wellKnown.clusterRoleBindings, indexClusterBindings)
  const namespaceGrants = memoise(objects, wellKnown.roleBindings, indexBindings)
  const rulesOf: RuleResolver['rulesOf'] = (roleRef, namespace) =>
    roleRef.kind === 'ClusterRole'
      ? existingRules(getTyped<ClusterRole>(objects, wellKnown.clusterRoles, roleRef))
      : existingRules(getTyped<Role>(objects, wellKnown.roles, { namespace, name: roleRef.name }))
  return {
    rulesOf,
    *rulesFor(user, namespace, onMissing) {
      const grants = [...grantsOf(clusterGrants(), '', user)]
      const local = namespace === '' ? [] : [...grantsOf(namespaceGrants(), namespace, user)]
      for (const { roleRef, reason } of [...grants, ...local]) {
        const rules = rulesOf(roleRef, namespace)
        if (!rules) onMissing(missingRole(roleRef))
        for (const rule of rules ?? []) yield { rule, reason }
      }
    },
  }
}

function existingRules(role: Role | ClusterRole | undefined): PolicyRule[] | undefined {
  return role && (role.rules ?? [])
}

function missingRole({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`
}

function memoise(
  objects: Objects,
  resource: GroupResource,
  build: (objects: Objects) => GrantIndex,
): () => GrantIndex {
  let known: { version: number; index: GrantIndex } | undefined
  return () => {
    const version = objects.version(resource)
    if (known?.version !== version) known = { version, index: build(objects) }
    return known.index
  }
}

function* grantsOf(index: GrantIndex, namespace: string, user: UserInfo): Iterable<Grant> {
  yield* index.get(subjectKey(namespace, 'User', user.name)) ?? []
  for (const group of user.groups) yield* index.get(subjectKey(namespace, 'Group', group)) ?? []
}

function indexClusterBindings(objects: Objects): GrantIndex {
  const bindings = listTyped<ClusterRoleBinding>(objects, wellKnown.clusterRoleBindings)
  return indexOf(bindings, 'ClusterRoleBinding')
}

function indexBindings(objects: Objects): GrantIndex {
  return indexOf(listTyped<RoleBinding>(objects, wellKnown.roleBindings), 'RoleBinding')
}

function indexOf(
  bindings: readonly (ClusterRoleBinding | RoleBinding)[],
  kind: 'ClusterRoleBinding' | 'RoleBinding',
): GrantIndex {
  const index = new Map<string, Grant[]>()
  for (const { metadata, roleRef, subjects = [] } of bindings) {
    const namespace = metadata.namespace ?? ''
    for (const subject of subjects) {
      const key = keyOfSubject(subject, namespace)
      if (key === undefined) continue
      const reason = reasonOf({ kind, name: bindingName(metadata), roleRef, subject, namespace })
      index.set(key, [...(index.get(key) ?? []), { roleRef, reason }])
    }
  }
  return index
}

function bindingName({ name = '', namespace }: { name?: string; namespace?: string }): string {
  return namespace === undefined ? name : `${name}/${namespace}`
}

/** Service accounts are users with a special name, so one lookup by name finds both. */
function keyOfSubject(subject: RbacV1Subject, namespace: string): string | undefined {
  if (subject.kind !== 'ServiceAccount') return subjectKey(namespace, subject.kind, subject.name)
  const home = subject.namespace || namespace
  if (home === '') return undefined
  return subjectKey(namespace, 'User', serviceAccountUserName(home, subject.name))
}

function subjectKey(namespace: string, kind: string, name: string): string {
  return `${namespace}\n${kind}\n${name}`
}

function reasonOf(grant: {
  kind: string
  name: string
  roleRef: RoleRef
  subject: RbacV1Subject
  namespace: string
}): string {
  const { subject, roleRef } = grant
  const isAccount = subject.kind === 'ServiceAccount'
  const who = isAccount ? `${subject.name}/${subject.namespace || grant.namespace}` : subject.name
  const role = `${roleRef.kind} ${JSON.stringify(roleRef.name)}`
  return `RBAC: allowed by ${grant.kind} ${JSON.stringify(grant.name)} of ${role} to ${subject.kind} ${JSON.stringify(who)}`
}
