import { isDeepStrictEqual } from 'node:util'
import {
  aggregatedRules,
  isStatusError,
  type AnyObject,
  type ClusterRole,
  type GroupResource,
  type PolicyRule,
  type RbacV1Subject,
  type RoleBinding,
} from '@skerry/api'
import { silentLogger, type Logger } from '@skerry/base'
import { missingRights } from '../authz/rule-coverage.ts'
import type { Objects } from '../contract/objects.ts'
import { goOnPastUnreadable } from '../contract/unreadable-object.ts'
import { listTyped, typed } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { nodeGroupObjects } from './joining-policy-table.ts'
import upstreamPolicy from './generated/policy.json' with { type: 'json' }

const resourceOfKind: Readonly<Record<string, GroupResource>> = Object.freeze({
  Namespace: wellKnown.namespaces,
  ClusterRole: wellKnown.clusterRoles,
  ClusterRoleBinding: wellKnown.clusterRoleBindings,
  Role: wellKnown.roles,
  RoleBinding: wellKnown.roleBindings,
  PriorityClass: wellKnown.priorityClasses,
})

const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate'

/**
 * Returns the objects that every cluster has from its first start: upstream's, then those needed
 * for joining.
 */
function bootstrapObjects(): AnyObject[] {
  // The generator writes only objects with apiVersion, kind and metadata.
  const upstream = upstreamPolicy as unknown as readonly AnyObject[]
  return structuredClone([...upstream, ...nodeGroupObjects])
}

/** Returns the rules that every node has, for the node authorizer. */
export function nodeRules(): readonly PolicyRule[] {
  const role = bootstrapObjects().find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'system:node',
  )
  return (role && typed<ClusterRole>(role).rules) ?? []
}

/**
 * Creates missing objects and restores lost rules and subjects at each start of the server. Never
 * removes anything, and skips objects that are annotated with autoupdate=false or cannot be read.
 */
export async function ensureBootstrapObjects(
  objects: Objects,
  log: Pick<Logger, 'error'> = silentLogger,
): Promise<void> {
  for (const object of bootstrapObjects()) {
    await goOnPastUnreadable(log, () => ensureOne(objects, object))
  }
  await aggregateClusterRoles(objects)
}

async function ensureOne(objects: Objects, wanted: AnyObject): Promise<void> {
  const resource = resourceOfKind[wanted.kind]
  if (!resource)
    throw new TypeError(`Cannot create bootstrap object: kind ${wanted.kind} is unknown`)
  const { namespace = '', name = '' } = wanted.metadata
  const found = objects.get(resource, namespace, name)
  if (!found) return create(objects, resource, wanted)
  const isPolicy = resource.group === wellKnown.roles.group
  if (!isPolicy || found.metadata.annotations?.[autoUpdate] === 'false') return
  if (!repair(structuredClone(found), wanted)) return
  await objects.update(resource, { namespace, name }, (object) => repair(object, wanted))
}

async function create(objects: Objects, resource: GroupResource, wanted: AnyObject): Promise<void> {
  try {
    await objects.create(resource, wanted)
  } catch (error) {
    // Another server of the same cluster starts at the same time.
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
}

/** Adds to `object` what it lacks. Returns false if it lacks nothing. */
function repair(object: AnyObject, wanted: AnyObject): boolean {
  if (wanted.kind.endsWith('Binding')) {
    return repairBinding(typed<RoleBinding>(object), typed<RoleBinding>(wanted))
  }
  const role = typed<ClusterRole>(object)
  const target = typed<ClusterRole>(wanted)
  if (target.aggregationRule) return false
  const missing = missingRights(role.rules ?? [], target.rules ?? [])
  role.rules = [...(role.rules ?? []), ...missing]
  return missing.length > 0
}

function repairBinding(binding: RoleBinding, wanted: RoleBinding): boolean {
  const present = binding.subjects ?? []
  const missing = (wanted.subjects ?? []).filter(
    (subject) => !present.some((other) => isSameSubject(other, subject)),
  )
  binding.subjects = [...present, ...missing]
  return missing.length > 0
}

function isSameSubject(a: RbacV1Subject, b: RbacV1Subject): boolean {
  return a.kind === b.kind && a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '')
}

/**
 * Fills every cluster role that has an aggregation rule from the roles that it selects. A
 * controller keeps them filled; this first pass makes admin, edit and view work at once.
 */
async function aggregateClusterRoles(objects: Objects): Promise<void> {
  const pending = listTyped<ClusterRole>(objects, wellKnown.clusterRoles).filter(
    (role) => role.aggregationRule,
  )
  // Aggregated roles select one another (admin selects edit selects view), so they settle step by
  // step.
  for (let round = 0; round <= pending.length; round++) {
    let isSettled = true
    for (const { metadata } of pending) {
      if (await aggregateOne(objects, metadata.name ?? '')) isSettled = false
    }
    if (isSettled) return
  }
}

async function aggregateOne(objects: Objects, name: string): Promise<boolean> {
  const found = objects.get(wellKnown.clusterRoles, '', name)
  if (!found) return false
  const role = typed<ClusterRole>(found)
  const rules = aggregatedRules(role, listTyped<ClusterRole>(objects, wellKnown.clusterRoles))
  if (isDeepStrictEqual(rules, role.rules ?? [])) return false
  await objects.update(wellKnown.clusterRoles, { namespace: '', name }, (object) => {
    typed<ClusterRole>(object).rules = rules
  })
  return true
}
