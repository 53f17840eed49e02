import type { JsonObject, ManagedFieldsEntry, Schema, SchemaSet } from '@skerry/api'
import { decodeFieldSet, encodeFieldSet, isEmptySet, unionOf, type FieldSet } from './field-set.ts'
import type { FindVersion } from './kind-versions.ts'
import { reconciledFields } from './owned-fields.ts'
import { bodiesBounds } from '../../limits-table.ts'

/** One manager with its fields, decoded from metadata.managedFields. */
export interface FieldOwner {
  readonly name: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  /** RFC 3339; undefined if the entry never had a time. */
  readonly time: string | undefined
  readonly set: FieldSet
}

/** Managers by managerKey. */
export type FieldOwners = Map<string, FieldOwner>

const managersLimits = bodiesBounds.managers

const ancientChanges = 'ancient-changes'

/** Entries with the same key are the same manager. An applier keeps its fields across versions. */
export function managerKey(manager: Omit<FieldOwner, 'time' | 'set'>): string {
  const { name, operation, apiVersion, subresource } = manager
  return JSON.stringify([name, operation, operation === 'Apply' ? '' : apiVersion, subresource])
}

export interface OwnedType {
  readonly schema: Schema
  readonly schemas: SchemaSet
  /** The version whose fields the schema describes. If omitted, all entries have it. */
  readonly apiVersion?: string
  /** Finds other versions. If omitted, their entries stay as they are. */
  readonly versionOf?: FindVersion
}

/** Decoded sets by their JSON object, so that objects from the cache are decoded once. */
const decodedSets = new WeakMap<object, { schema: Schema; set: FieldSet }>()

/** Returns undefined if an entry is malformed; upstream then ignores all of them. */
export function decodeManagers(
  entries: readonly ManagedFieldsEntry[] | undefined,
  type: OwnedType,
): FieldOwners | undefined {
  const managers: FieldOwners = new Map()
  for (const entry of entries ?? []) {
    const { operation, apiVersion, fieldsType, fieldsV1 } = entry
    if (operation !== 'Apply' && operation !== 'Update') return undefined
    if (!apiVersion || fieldsType !== 'FieldsV1') return undefined
    const set = decodeSet(fieldsV1 ?? {}, apiVersion, type)
    if (set === undefined) return undefined
    const manager: FieldOwner = {
      name: entry.manager ?? '',
      operation,
      apiVersion,
      subresource: entry.subresource ?? '',
      time: entry.time,
      set,
    }
    managers.set(managerKey(manager), manager)
  }
  return managers
}

function decodeSet(fields: JsonObject, apiVersion: string, type: OwnedType): FieldSet | undefined {
  const known = decodedSets.get(fields)
  if (known?.schema === type.schema) return known.set
  try {
    const written = decodeFieldSet(fields)
    const of = typeIn(apiVersion, type)
    const set = of ? reconciledFields(written, of.schema, of.schemas) : written
    decodedSets.set(fields, { schema: type.schema, set })
    return set
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function typeIn(
  apiVersion: string,
  type: OwnedType,
): Pick<OwnedType, 'schema' | 'schemas'> | undefined {
  if ((type.apiVersion ?? apiVersion) === apiVersion) return type
  const version = type.versionOf?.(apiVersion)
  return version && { schema: version.schemas[version.schemaName] ?? {}, schemas: version.schemas }
}

/** Sorts managers as upstream does. Returns undefined if nobody owns anything. */
export function encodeManagers(managers: FieldOwners): ManagedFieldsEntry[] | undefined {
  const sorted = [...managers.values()].toSorted(compareManagers)
  if (sorted.length === 0) return undefined
  return sorted.map(({ name, operation, apiVersion, subresource, time, set }) => ({
    ...(name ? { manager: name } : {}),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: encodeFieldSet(set),
    ...(subresource ? { subresource } : {}),
  }))
}

function compareManagers(a: FieldOwner, b: FieldOwner): number {
  return (
    compareText(a.operation, b.operation) ||
    timeMs(a) - timeMs(b) ||
    compareText(a.name, b.name) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  )
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function timeMs(manager: FieldOwner): number {
  return manager.time === undefined ? 0 : Date.parse(manager.time)
}

/** Replaces a manager's set; an empty one removes the manager. */
export function setFields(managers: FieldOwners, manager: FieldOwner, set: FieldSet): void {
  const key = managerKey(manager)
  if (isEmptySet(set)) managers.delete(key)
  else managers.set(key, { ...manager, set })
}

/** Merges the oldest Update entries of a version until few enough are left. */
export function capUpdateManagers(managers: FieldOwners): void {
  const updaters = [...managers.values()]
    .filter(({ operation }) => operation === 'Update')
    .toSorted((a, b) => timeMs(a) - timeMs(b) || compareText(managerKey(a), managerKey(b)))
  let count = updaters.length
  const firstOfVersion = new Map<string, FieldOwner>()
  for (const updater of updaters) {
    if (count <= managersLimits.updateManagersMax) return
    const { apiVersion } = updater
    const first = firstOfVersion.get(apiVersion)
    if (first === undefined) {
      firstOfVersion.set(apiVersion, updater)
      continue
    }
    const bucket = { ...updater, name: ancientChanges, subresource: '' }
    const before = managers.get(managerKey(bucket)) ?? first
    if (before === first) managers.delete(managerKey(first))
    managers.delete(managerKey(updater))
    managers.set(managerKey(bucket), { ...bucket, set: unionOf(before.set, updater.set) })
    count -= 1
  }
}
