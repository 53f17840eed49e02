import {
  isJsonObject,
  recursionMax,
  type JsonObject,
  type Schema,
  type SchemaSet,
} from '@skerry/api'
import type { Comparison } from './compare.ts'
import type { FieldOwners } from './managers.ts'
import { zeroObject } from './zero-object.ts'

/** Another version of the kind of an object. */
export interface KindVersion {
  readonly schemas: SchemaSet
  readonly schemaName: string
  /** A copy in that version of an object in the version of the request. */
  readonly fromOwn: (object: Readonly<JsonObject>) => JsonObject
  /** A copy in the version of the request of an object in that version. */
  readonly toOwn: (object: Readonly<JsonObject>) => JsonObject
}

/** By apiVersion, all but that of the request. Undefined: there is no such version. */
export type FindVersion = (apiVersion: string) => KindVersion | undefined

/** What a write changed, as a version sees it. */
export type ComparisonIn = (apiVersion: string) => Comparison

export interface Versioned {
  readonly apiVersion: string
  /** Absent: fields that are owned through other versions have the names of this one. */
  readonly versionOf?: FindVersion
}

/** Each version is compared once, and only when fields are owned through it. */
export function comparisonsIn(
  own: Comparison,
  { apiVersion, versionOf }: Versioned,
  compare: (version: KindVersion) => Comparison,
): ComparisonIn {
  const known = new Map([[apiVersion, own]])
  return (asked) => {
    const found = known.get(asked)
    if (found) return found
    const version = versionOf?.(asked)
    const comparison = version ? compare(version) : own
    known.set(asked, comparison)
    return comparison
  }
}

/** Whoever owns fields through a version that is gone owns nothing any more. */
export function forgetGoneVersions(
  managers: FieldOwners,
  { apiVersion, versionOf }: Versioned,
): void {
  if (!versionOf) return
  for (const [key, manager] of managers) {
    if (manager.apiVersion !== apiVersion && !versionOf(manager.apiVersion)) managers.delete(key)
  }
}

/** What is converted has every field that is always written. */
export function filled(object: JsonObject, schema: Schema, schemas: SchemaSet): JsonObject {
  return laidOver(zeroObject(schema, schemas), object)
}

function laidOver(below: Readonly<JsonObject>, above: Readonly<JsonObject>): JsonObject {
  const object: JsonObject = { ...above }
  for (const [key, value] of Object.entries(below)) {
    const own = object[key]
    if (own === undefined) object[key] = value
    else if (isJsonObject(value) && isJsonObject(own)) object[key] = laidOver(value, own)
  }
  return object
}

/** An object as another version shows it: what was left as null by an apply is not there. */
export function shownIn(version: KindVersion, object: Readonly<JsonObject>): JsonObject {
  const { schemas, schemaName } = version
  return filled(withoutNulls(version.fromOwn(object)), schemas[schemaName] ?? {}, schemas)
}

function withoutNulls(object: Readonly<JsonObject>, depth = 0): JsonObject {
  if (depth > recursionMax) return object
  const members = Object.entries(object).filter(([, value]) => value !== null)
  return Object.fromEntries(
    members.map(([key, value]) => [
      key,
      isJsonObject(value) ? withoutNulls(value, depth + 1) : value,
    ]),
  )
}
