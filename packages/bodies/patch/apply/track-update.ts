import {
  equalJson,
  isJsonObject,
  type JsonObject,
  type AnyObject,
  type ManagedFieldsEntry,
  type SchemaSet,
} from '@skerry/api'
import { runSteps, type Steps } from '../../steps.ts'
import { checkApplied } from './applied-check.ts'
import { compareObjects, isUnchanged, withoutFields, type Comparison } from './compare.ts'
import {
  differenceOf,
  fieldSetOf,
  intersectionOf,
  isEmptySet,
  noFields,
  unionOf,
  type FieldSet,
} from './field-set.ts'
import {
  comparisonsIn,
  forgetGoneVersions,
  type ComparisonIn,
  type FindVersion,
} from './kind-versions.ts'
import {
  capUpdateManagers,
  decodeManagers,
  encodeManagers,
  managerKey,
  setFields,
  type FieldOwner,
  type FieldOwners,
  type OwnedType,
} from './managers.ts'
import { zeroObject } from './zero-object.ts'

export interface TrackedUpdate {
  /** The stored object. Omitted on create. */
  live?: AnyObject
  /** The object to store, with defaults set, before admission. Its managedFields are changed in place. */
  next: AnyObject
  schemas: SchemaSet
  schemaName: string
  /** The fieldManager parameter, or the first part of the user agent. */
  manager: string
  apiVersion: string
  /** Omitted or empty for the object itself. */
  subresource?: string
  nowMs: number
  /**
   * Fields that this endpoint does not write, e.g. `[['status']]`, so that nobody can own them
   * through it.
   */
  resetFields?: readonly (readonly string[])[]
  /** See Versioned. */
  versionOf?: FindVersion
}

/** Updates metadata.managedFields after a create, an update or a patch. */
export function trackUpdate(update: TrackedUpdate): void {
  runSteps(trackUpdateSteps(update))
}

export function* trackUpdateSteps(update: TrackedUpdate): Steps<void> {
  const type = ownedType(update)
  const entries = yield* nextManagedFields(update, type)
  if (entries === undefined) delete update.next.metadata.managedFields
  else update.next.metadata.managedFields = entries
}

/**
 * Restores the old times of a write that changed nothing but times of managedFields, so that
 * nothing is written. Call it when admission is done; `next` is changed in place.
 */
export function keepTimesOfNoop(next: AnyObject, live: AnyObject): void {
  const before = live.metadata.managedFields ?? []
  const after = next.metadata.managedFields ?? []
  if (before.length === 0 || !equalJson(before.map(withoutTime), after.map(withoutTime))) return
  const { managedFields: _live, ...liveMetadata } = live.metadata
  const { managedFields: _next, ...nextMetadata } = next.metadata
  const isSame =
    equalJson(liveMetadata, nextMetadata) &&
    equalJson({ ...live, metadata: null }, { ...next, metadata: null })
  if (isSame) next.metadata.managedFields = live.metadata.managedFields ?? []
}

function withoutTime({ time: _time, ...entry }: ManagedFieldsEntry): ManagedFieldsEntry {
  return entry
}

export function ownedType(of: {
  schemas: SchemaSet
  schemaName: string
  apiVersion?: string
  versionOf?: FindVersion
}): OwnedType {
  const { schemas, schemaName, apiVersion, versionOf } = of
  // This is the definition itself, not a reference to it, because caches are keyed by it.
  const schema = schemas[schemaName] ?? {}
  return {
    schema,
    schemas,
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(versionOf ? { versionOf } : {}),
  }
}

function* nextManagedFields(
  update: TrackedUpdate,
  type: OwnedType,
): Steps<ManagedFieldsEntry[] | undefined> {
  const { live, next } = update
  if (isWrongWhereReset(update, type)) return undefined
  const own = live?.metadata.managedFields
  const sent = managedFieldsOf(update, own)
  if (live && isReset(sent)) return undefined
  yield
  const before = live ?? zeroObject(type.schema, type.schemas)
  const comparison = compareForUpdate(before, next, update)
  const keepsEntries = sent === undefined || sent.length === 0 || sent === own
  // Nothing changed, so nothing must be decoded; most writes of controllers end here.
  const isOwnVersion = own?.every((entry) => entry.apiVersion === update.apiVersion) ?? true
  if (live && keepsEntries && isOwnVersion && isUnchanged(comparison)) {
    return own?.length ? own : undefined
  }
  yield
  const managers = knownManagers(isReset(sent) ? [] : sent, own, type)
  yield
  // An object that was never tracked stays untracked until its first apply.
  if (live && managers.size === 0) return undefined
  forgetGoneVersions(managers, update)
  const comparisonIn = comparisonsIn(comparison, update, (version) =>
    compareForUpdate(version.fromOwn(before), version.fromOwn(next), {
      ...version,
      ...(update.resetFields ? { resetFields: update.resetFields } : {}),
    }),
  )
  trackChange(managers, comparisonIn, update)
  yield
  return encodeManagers(managers)
}

/**
 * Custom resources are tracked before the fields that this endpoint does not write are restored. If
 * such a part does not have the schema's types, upstream cannot determine its fields, and then
 * tracks none of the object's.
 */
function isWrongWhereReset({ next, resetFields = [] }: TrackedUpdate, type: OwnedType): boolean {
  if (!type.schema.embeddedResource) return false
  const parts: JsonObject = {}
  for (const [name = ''] of resetFields) if (Object.hasOwn(next, name)) parts[name] = next[name]
  return checkApplied(parts, type, { allowsDuplicates: true }).length > 0
}

/** Clients that do not know managedFields send none, which does not delete them. */
function knownManagers(
  sent: readonly ManagedFieldsEntry[] | undefined,
  own: readonly ManagedFieldsEntry[] | undefined,
  type: OwnedType,
): FieldOwners {
  const managers = sent?.length ? decodeManagers(sent, type) : undefined
  if (managers && managers.size > 0) return managers
  return decodeManagers(own, type) ?? new Map()
}

/**
 * A request to a subresource cannot set managedFields. Entries that equal the live ones are
 * replaced by those, whose sets are already decoded.
 */
function managedFieldsOf(
  { next, subresource }: TrackedUpdate,
  own: ManagedFieldsEntry[] | undefined,
): ManagedFieldsEntry[] | undefined {
  const sent = next.metadata.managedFields
  return subresource || (own !== undefined && equalJson(sent, own)) ? own : sent
}

/** An empty list, or a list of one empty entry, clears all ownership. */
function isReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (entries === undefined) return false
  if (entries.length === 0) return true
  const [only] = entries
  return entries.length === 1 && only !== undefined && Object.keys(only).length === 0
}

export function compareForUpdate(
  live: Readonly<JsonObject>,
  next: Readonly<JsonObject>,
  of: Pick<TrackedUpdate, 'schemas' | 'schemaName' | 'resetFields'>,
): Comparison {
  const comparison = compareObjects(
    withoutSystemFields(live),
    withoutSystemFields(next),
    ownedType(of),
  )
  return of.resetFields ? withoutFields(comparison, fieldSetOf(of.resetFields)) : comparison
}

/** The writer owns what it changed, and nobody else does any more. */
export function trackChange(
  managers: FieldOwners,
  comparisonIn: ComparisonIn,
  update: Pick<TrackedUpdate, 'manager' | 'apiVersion' | 'subresource' | 'nowMs'>,
): void {
  for (const manager of managers.values()) {
    setFields(managers, manager, withoutChanged(manager.set, comparisonIn(manager.apiVersion)))
  }
  const set = differenceOf(writtenIn(comparisonIn(update.apiVersion)), systemFields)
  if (!isEmptySet(set)) {
    const manager: FieldOwner = {
      name: update.manager || 'unknown',
      operation: 'Update',
      apiVersion: update.apiVersion,
      subresource: update.subresource ?? '',
      time: timeText(update.nowMs),
      set,
    }
    const previous = managers.get(managerKey(manager))
    setFields(managers, manager, unionOf(set, previous?.set ?? noFields))
  }
  capUpdateManagers(managers)
}

export function writtenIn({ modified, added }: Comparison): FieldSet {
  return unionOf(modified, added)
}

export function withoutChanged(set: FieldSet, comparison: Comparison): FieldSet {
  const changed = intersectionOf(set, writtenIn(comparison))
  return differenceOf(differenceOf(set, changed), comparison.removed)
}

/** RFC 3339 in whole seconds. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

const systemMetadata = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
] as const

/** The server writes these; no manager owns them. */
export const systemFields: FieldSet = fieldSetOf([
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ...systemMetadata.map((name) => ['metadata', name]),
])

/** Avoids comparing fields that would be removed afterwards. */
function withoutSystemFields(object: Readonly<JsonObject>): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = object
  if (!isJsonObject(metadata)) return { metadata: {}, ...rest }
  const kept: JsonObject = { ...metadata }
  for (const name of systemMetadata) delete kept[name]
  return { metadata: kept, ...rest }
}
