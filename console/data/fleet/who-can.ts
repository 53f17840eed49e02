/** Finds everybody who may do something, by the roles and bindings of RBAC (rbac.authorization.k8s.io/v1). Pure. */
import { byName } from './fleet.ts'

interface PolicyRule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** A ClusterRole, or a Role of a namespace. */
export interface RoleObject {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly PolicyRule[] | null
}

export interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

/** A ClusterRoleBinding, or a RoleBinding of a namespace. */
export interface BindingObject {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly roleRef: { readonly kind: string; readonly name: string }
  readonly subjects?: readonly Subject[] | null
}

export interface Rbac {
  readonly roles: readonly RoleObject[]
  readonly bindings: readonly BindingObject[]
}

export interface Question {
  readonly verb: string
  readonly group: string
  readonly resource: string
  /** Empty for the object itself. */
  readonly subresource: string
  /** Empty for the whole cluster. */
  readonly namespace: string
  /** Empty for every object. */
  readonly name: string
}

export interface Grant {
  readonly subject: Subject
  readonly binding: BindingObject
}

/** Reads `pods`, `deployments.apps` and `pods/exec`, as kubectl writes them. */
export function readResource(text: string): Pick<Question, 'group' | 'resource' | 'subresource'> {
  const [kind = '', subresource = ''] = text.trim().split('/')
  const [resource = '', ...group] = kind.split('.')
  return { resource, group: group.join('.'), subresource }
}

/** Lists everybody whom a binding allows it, sorted by name. */
export function whoCan({ roles, bindings }: Rbac, question: Question): Grant[] {
  const byKey = new Map(roles.map((role) => [keyOf(role.metadata), role]))
  return bindings
    .filter(
      ({ metadata: { namespace = '' } }) => namespace === '' || namespace === question.namespace,
    )
    .filter(({ roleRef, metadata: { namespace = '' } }) => {
      const at = roleRef.kind === 'Role' ? namespace : ''
      const role = byKey.get(keyOf({ name: roleRef.name, namespace: at }))
      return role?.rules?.some((rule) => allows(rule, question)) === true
    })
    .flatMap((binding) => (binding.subjects ?? []).map((subject) => ({ subject, binding })))
    .toSorted(
      (a, b) => byName(a.subject.kind, b.subject.kind) || byName(a.subject.name, b.subject.name),
    )
}

function keyOf({ name, namespace = '' }: { name: string; namespace?: string }): string {
  return `${namespace}/${name}`
}

function allows(rule: PolicyRule, { verb, group, resource, subresource, name }: Question): boolean {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } = rule
  const has = (list: readonly string[], ...words: readonly string[]): boolean =>
    list.includes('*') || words.some((word) => list.includes(word))
  const kinds = subresource === '' ? [resource] : [`${resource}/${subresource}`, `*/${subresource}`]
  const isNamed = resourceNames.length === 0 || (name !== '' && resourceNames.includes(name))
  return has(verbs, verb) && has(apiGroups, group) && has(resources, ...kinds) && isNamed
}
