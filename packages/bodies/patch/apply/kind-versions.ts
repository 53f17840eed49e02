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

/** Another version of an object's kind. */
export interface KindVersion {
  readonly schemas: SchemaSet
  readonly schemaName: string
  /** Copies an object from the request's version to that version. */
  readonly fromOwn: (object: Readonly<JsonObject>) => JsonObject
  /** Copies an object from that version to the request's version. */
  readonly toOwn: (object: Readonly<JsonObject>) => JsonObject
}

/** Finds a version other than the request's by apiVersion. Returns undefined if there is none. */
export type FindVersion = (apiVersion: string) => KindVersion | undefined

/** Returns the changes of a write as a version sees them. */
export type ComparisonIn = (apiVersion: string) => Comparison

export interface Versioned {
  readonly apiVersion: string
  /** Finds other versions. If omitted, fields that are owned through other versions have this one's names. */
  readonly versionOf?: FindVersion
}

/** Compares each version once, and only if fields are owned through it. */
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

/** Removes managers whose version is gone; they own nothing any more. */
export function forgetGoneVersions(
  managers: FieldOwners,
  { apiVersion, versionOf }: Versioned,
): void {
  if (!versionOf) return
  for (const [key, manager] of managers) {
    if (manager.apiVersion !== apiVersion && !versionOf(manager.apiVersion)) managers.delete(key)
  }
}

/** A converted object has every field that is always written. */
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

/** Returns an object as another version shows it, without fields that an apply left as null. */
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
