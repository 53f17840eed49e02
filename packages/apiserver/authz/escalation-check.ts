import {
  StatusError,
  type AnyObject,
  type ClusterRole,
  type PolicyRule,
  type RoleBinding,
  type RoleRef,
} from '@skerry/api'
import type { Authorizer } from '../contract/access.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import { systemGroups } from '../contract/user-names.ts'
import { typed } from '../contract/typed-objects.ts'
import { isCollectionOnly } from './collection-only.ts'
import { compactRights, describeRule, missingRights } from './rule-coverage.ts'
import type { RuleResolver } from './rule-resolver.ts'

const group = 'rbac.authorization.k8s.io'
const fullAuthority: readonly PolicyRule[] = Object.freeze([
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
])

/**
 * Prevents users from granting rights they do not have. The author of a role must hold its rules or
 * have the verb escalate; the author of a binding must hold the role's rules or have the verb bind
 * on it. Like upstream's registry, this checks before the object is validated.
 */
export function createEscalationCheck(
  rules: RuleResolver,
  authorizer: Authorizer,
): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    handles: (request) =>
      request.resource.group === group &&
      request.subresource === '' &&
      (request.operation === 'CREATE' || request.operation === 'UPDATE') &&
      !request.user.groups.includes(systemGroups.masters),
    check: {
      stands: 'before',
      async causesOf(request) {
        const { object, oldObject } = request
        if (!object || (oldObject && isCollectionOnly(object, oldObject))) return []
        if (request.resource.resource.endsWith('rolebindings')) {
          await checkBinding(request, typed<RoleBinding>(object).roleRef, rules, authorizer)
        } else {
          await checkRole(request, object, rules, authorizer)
        }
        return []
      },
    },
  }
}

async function checkRole(
  request: AdmissionRequest,
  object: AnyObject,
  rules: RuleResolver,
  authorizer: Authorizer,
): Promise<void> {
  // A right to one name does not include creating a role of that name, because a POST has no name
  // in its path.
  const resource = { ...request.resource, version: '*' }
  const asked = { verb: 'escalate', resource, name: request.pathName }
  if (await isVerbAllowed(request, authorizer, asked)) return
  const role = typed<ClusterRole>(object)
  confirm(request, role.rules ?? [], rules)
  const old = request.oldObject && typed<ClusterRole>(request.oldObject)
  if (!hasAggregation(role) && !(old && hasAggregation(old))) return
  if (missingRights(heldRules(request, rules), fullAuthority).length > 0) {
    throw refuse(request, 'must have cluster-admin privileges to use the aggregationRule')
  }
}

async function checkBinding(
  request: AdmissionRequest,
  roleRef: RoleRef,
  rules: RuleResolver,
  authorizer: Authorizer,
): Promise<void> {
  const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles'
  const target = { group: roleRef.apiGroup ?? group, version: '*', resource }
  const asked = { verb: 'bind', resource: target, name: roleRef.name }
  if (await isVerbAllowed(request, authorizer, asked)) return
  const granted = rules.rulesOf(roleRef, request.namespace)
  if (!granted) {
    // Upstream reports the kind of the request, the binding, with the name of the role.
    const kind = request.resource.resource
    throw new StatusError(
      'NotFound',
      `${kind}.${group} ${JSON.stringify(roleRef.name)} not found`,
      {
        details: { name: roleRef.name, group, kind },
      },
    )
  }
  confirm(request, granted, rules)
}

function hasAggregation(role: ClusterRole): boolean {
  return (role.aggregationRule?.clusterRoleSelectors ?? []).length > 0
}

async function isVerbAllowed(
  request: AdmissionRequest,
  authorizer: Authorizer,
  asked: { verb: string; resource: AdmissionRequest['resource']; name: string },
): Promise<boolean> {
  const decision = await authorizer.authorize({
    user: request.user,
    verb: asked.verb,
    isResourceRequest: true,
    resource: asked.resource,
    name: asked.name,
    namespace: request.namespace,
    path: '',
  })
  return decision.verdict === 'allow'
}

function heldRules(request: AdmissionRequest, rules: RuleResolver): PolicyRule[] {
  // A binding to a missing role grants nothing, so it can be skipped here.
  const granted = rules.rulesFor(request.user, request.namespace, () => undefined)
  return [...granted].map(({ rule }) => rule)
}

function confirm(
  request: AdmissionRequest,
  wanted: readonly PolicyRule[],
  rules: RuleResolver,
): void {
  const missing = missingRights(heldRules(request, rules), wanted)
  if (missing.length === 0) return
  const { name, groups } = request.user
  const quotedGroups = groups.map((text) => JSON.stringify(text)).join(' ')
  const rights = [...new Set(compactRights(missing).map(describeRule))].sort().join('\n')
  throw refuse(
    request,
    `user ${JSON.stringify(name)} (groups=[${quotedGroups}]) is attempting to grant RBAC permissions not currently held:\n${rights}`,
  )
}

function refuse(request: AdmissionRequest, why: string): StatusError {
  const { resource } = request.resource
  const message = `${resource}.${group} ${JSON.stringify(request.name)} is forbidden: ${why}`
  return new StatusError('Forbidden', message, {
    details: { name: request.name, group, kind: resource },
  })
}
