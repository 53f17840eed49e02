import {
  StatusError,
  cloneJson,
  equalJson,
  isJsonObject,
  type AnyObject,
  type JsonObject,
  type SchemaSet,
} from '@skerry/api'
import { runSteps, type Steps } from '../../steps.ts'
import { checkApplied } from './applied-check.ts'
import {
  conflictError,
  conflictingFields,
  conflictsWithout,
  type OwnershipConflict,
} from './conflicts.ts'
import {
  differenceOf,
  fieldSetOf,
  intersectionOf,
  isEmptySet,
  recursiveDifferenceOf,
} from './field-set.ts'
import {
  comparisonsIn,
  forgetGoneVersions,
  shownIn,
  type ComparisonIn,
  type FindVersion,
} from './kind-versions.ts'
import { allowedByLastApplied, syncLastApplied } from './last-applied.ts'
import {
  decodeManagers,
  encodeManagers,
  managerKey,
  setFields,
  type FieldOwner,
  type FieldOwners,
  type OwnedType,
} from './managers.ts'
import { mergeApplied } from './merge-applied.ts'
import { ownedFields } from './owned-fields.ts'
import { pruneFields } from './prune-fields.ts'
import {
  compareForUpdate,
  ownedType,
  systemFields,
  timeText,
  trackChange,
  withoutChanged,
  writtenIn,
} from './track-update.ts'
import { zeroObject } from './zero-object.ts'

export interface ServerSideApply {
  /** The stored object. Omitted if the apply creates it. */
  live?: AnyObject
  /** The client's configuration, as decoded. It is not changed. */
  applied: AnyObject
  schemas: SchemaSet
  schemaName: string
  /** The fieldManager parameter; the server requires it. */
  manager: string
  /** True to take fields that others own and set to another value. */
  isForced: boolean
  /** The endpoint's `v1`, `apps/v1`, …. */
  apiVersion: string
  /** The kind of the endpoint, if it is known. */
  kind?: string
  subresource?: string
  nowMs: number
  resetFields?: readonly (readonly string[])[]
  /** See Versioned. */
  versionOf?: FindVersion
}

const beforeFirstApply = 'before-first-apply'
const kubectl = 'kubectl'

/**
 * Performs server-side apply (KEP-555). Returns a new object with managedFields, which must still
 * pass field checks and defaulting; an apply that changes nothing keeps the times. Throws
 * StatusError BadRequest or Unknown for a bad configuration, Conflict if others own fields that it
 * sets.
 */
export function applyServerSide(apply: ServerSideApply): AnyObject {
  return runSteps(applySteps(apply))
}

/** Does the same in steps; see Steps. */
export function* applySteps(apply: ServerSideApply): Steps<AnyObject> {
  checkConfiguration(apply)
  yield
  const type = ownedType(apply)
  const managers = liveManagers(apply, type)
  yield
  const outcome = yield* merge(apply, managers, type)
  if (outcome.conflicts.length > 0 && !apply.isForced) {
    refuseConflicts(apply, outcome.conflicts, type)
  }
  const object = outcome.object
  yield
  if (apply.manager === kubectl) syncLastApplied(object, apply.applied)
  const entries = encodeManagers(outcome.managers)
  if (entries) object.metadata.managedFields = entries
  return object
}

function checkConfiguration({
  applied,
  apiVersion,
  kind,
  schemas,
  schemaName,
}: ServerSideApply): void {
  if (applied.apiVersion !== apiVersion || (kind !== undefined && applied.kind !== kind)) {
    const version = applied.apiVersion ?? ''
    const gvk = `${version.includes('/') ? '' : '/'}${version}, Kind=${applied.kind ?? ''}`
    throw new StatusError('BadRequest', `invalid object type: ${gvk}`)
  }
  const { managedFields, namespace = '', name = '' } = applied.metadata ?? {}
  // Something other than such a list is reported like any other value of a wrong type.
  const isList = Array.isArray(managedFields) && managedFields.every(isJsonObject)
  if (isList) {
    throw new StatusError('BadRequest', 'metadata.managedFields must be nil')
  }
  const findings = checkApplied(applied, ownedType({ schemas, schemaName }))
  if (findings.length === 0) return
  const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
  const prefix = `failed to create typed patch object (${namespace}/${name}; ${version}, Kind=${applied.kind})`
  const detail =
    findings.length === 1
      ? findings[0]
      : `errors:\n${findings.map((text) => `  ${text}`).join('\n')}`
  throw new StatusError('Unknown', `${prefix}: ${detail}`)
}

/** Existing fields without an owner belong to a manager of that name. */
function liveManagers(
  { live, schemas, schemaName, apiVersion, nowMs, resetFields = [] }: ServerSideApply,
  type: OwnedType,
): FieldOwners {
  const managers = decodeManagers(live?.metadata.managedFields, type) ?? new Map()
  if (!live || managers.size > 0) return managers
  const zero = zeroObject(type.schema, type.schemas)
  const comparison = compareForUpdate(zero, live, { schemas, schemaName, resetFields })
  trackChange(managers, () => comparison, { manager: beforeFirstApply, apiVersion, nowMs })
  return managers
}

interface Outcome {
  readonly object: AnyObject
  readonly managers: FieldOwners
  readonly conflicts: readonly OwnershipConflict[]
}

function* merge(apply: ServerSideApply, before: FieldOwners, type: OwnedType): Steps<Outcome> {
  const { live, applied } = apply
  const managers: FieldOwners = new Map(before)
  forgetGoneVersions(managers, apply)
  const base: JsonObject = live ?? zeroObject(type.schema, type.schemas)
  const owned = ownedFields(applied, type.schema, type.schemas)
  const set = apply.resetFields
    ? recursiveDifferenceOf(owned, fieldSetOf(apply.resetFields))
    : owned
  const self: FieldOwner = {
    name: apply.manager,
    operation: 'Apply',
    apiVersion: apply.apiVersion,
    subresource: apply.subresource ?? '',
    time: timeText(apply.nowMs),
    set,
  }
  const last = managers.get(managerKey(self))
  managers.set(managerKey(self), self)
  yield
  const result = mergeApplied(base, applied, type)
  yield
  const merged = isJsonObject(result) ? result : {}
  const owners = { managers: [...managers.values()], self }
  const next = last ? yield* pruneFields(merged, { ...owners, last }, { ...apply, type }) : merged
  yield
  const conflicts = takeOwnership(managers, self, changesIn(base, next, apply))
  yield
  setFields(managers, managerAt(managers, self), differenceOf(set, systemFields))
  const isNoop =
    live !== undefined && equalJson(withoutManagedFields(live), withoutManagedFields(next))
  // An entry in a version that is gone keeps its time, too.
  if (isNoop) keepTime(managers, self, before.get(managerKey(self)))
  return { object: finished(next, apply), managers, conflicts }
}

function changesIn(base: JsonObject, next: JsonObject, apply: ServerSideApply): ComparisonIn {
  const { resetFields } = apply
  return comparisonsIn(compareForUpdate(base, next, apply), apply, (version) =>
    compareForUpdate(shownIn(version, base), shownIn(version, next), {
      ...version,
      ...(resetFields ? { resetFields } : {}),
    }),
  )
}

function managerAt(managers: FieldOwners, self: FieldOwner): FieldOwner {
  return managers.get(managerKey(self)) ?? self
}

function keepTime(managers: FieldOwners, self: FieldOwner, last: FieldOwner | undefined): void {
  const current = managers.get(managerKey(self))
  if (current) managers.set(managerKey(self), { ...current, time: last?.time })
}

/** Other managers lose what this apply changed or removed; losing a changed field is a conflict. */
function takeOwnership(
  managers: FieldOwners,
  self: FieldOwner,
  comparisonIn: ComparisonIn,
): OwnershipConflict[] {
  const conflicts: OwnershipConflict[] = []
  for (const manager of managers.values()) {
    if (managerKey(manager) === managerKey(self)) continue
    const comparison = comparisonIn(manager.apiVersion)
    const taken = intersectionOf(manager.set, writtenIn(comparison))
    if (!isEmptySet(taken)) conflicts.push({ manager, set: taken })
    setFields(managers, manager, withoutChanged(manager.set, comparison))
  }
  return conflicts
}

function refuseConflicts(
  apply: ServerSideApply,
  conflicts: readonly OwnershipConflict[],
  type: OwnedType,
): void {
  const allowed =
    apply.manager === kubectl && apply.live
      ? allowedByLastApplied(apply.live, apply.apiVersion, type)
      : undefined
  if (allowed === undefined) throw conflictError(conflicts)
  if (isEmptySet(differenceOf(conflictingFields(conflicts), allowed))) return
  throw conflictError(conflictsWithout(conflicts, allowed))
}

/** The server's own metadata is the live object's, whatever the configuration contains. */
function finished(next: Readonly<JsonObject>, { live, applied }: ServerSideApply): AnyObject {
  const object = cloneJson({ ...next })
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {}
  delete metadata['managedFields']
  const { apiVersion, kind } = live ?? applied
  return { ...object, apiVersion, kind, metadata }
}

function withoutManagedFields(object: Readonly<JsonObject>): JsonObject {
  if (!isJsonObject(object['metadata'])) return object
  const { managedFields: _managedFields, ...metadata } = object['metadata']
  return { ...object, metadata }
}
