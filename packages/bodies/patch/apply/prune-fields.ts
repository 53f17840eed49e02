import { isJsonObject, type JsonObject, type Schema, type SchemaSet } from '@skerry/api'
import type { Steps } from '../../steps.ts'
import {
  differenceOf,
  intersectionOf,
  isEmptySet,
  noFields,
  unionOf,
  type FieldSet,
} from './field-set.ts'
import { filled, type KindVersion, type Versioned } from './kind-versions.ts'
import type { FieldOwner, OwnedType } from './managers.ts'
import { removeFields } from './merge-applied.ts'
import { ownedFields, withNamedFields } from './owned-fields.ts'

/**
 * Removes what this manager applied last time, does not apply now, and nobody else owns. Parts
 * below a removed field that others own, or nobody, are restored. Works in the version that was
 * applied last; ownership through another version is checked in that one.
 */
export function* pruneFields(
  merged: JsonObject,
  owners: { last: FieldOwner; managers: readonly FieldOwner[]; self: FieldOwner },
  of: Versioned & { readonly type: OwnedType },
): Steps<JsonObject> {
  const { last, managers, self } = owners
  const isOwn = last.apiVersion === self.apiVersion
  if (isOwn && isEmptySet(differenceOf(last.set, self.set))) return merged
  const then = viewIn(last.apiVersion, of)
  const before = then.fromOwn(merged)
  yield
  let left = without(before, then.named(last.set), then)
  for (const [apiVersion, owned] of ownedByVersion(managers, last.apiVersion)) {
    const view = viewIn(apiVersion, of)
    yield
    const all = view.fromOwn(then.toOwn(before))
    yield
    const kept = view.fromOwn(then.toOwn(left))
    yield
    const unowned = differenceOf(view.fields(all), unionOf(view.fields(kept), view.named(owned)))
    yield
    left = then.fromOwn(view.toOwn(without(all, unowned, view)))
  }
  yield
  const gone = intersectionOf(
    differenceOf(then.fields(before), then.fields(left)),
    then.named(last.set),
  )
  yield
  return then.toOwn(without(before, gone, then))
}

/** Starts with the version of the last apply: others may need what only its owners restore. */
function ownedByVersion(
  managers: readonly FieldOwner[],
  first: string,
): ReadonlyMap<string, FieldSet> {
  const owned = new Map<string, FieldSet>()
  const isFirst = ({ apiVersion }: FieldOwner): boolean => apiVersion === first
  const rest = managers.filter((manager) => !isFirst(manager))
  for (const { apiVersion, set } of [...managers.filter(isFirst), ...rest]) {
    owned.set(apiVersion, unionOf(owned.get(apiVersion) ?? noFields, set))
  }
  return owned
}

/** Shows an object in a version, with the type of its fields there. */
interface VersionView extends Pick<KindVersion, 'fromOwn' | 'toOwn'> {
  readonly type: { schema: Schema; schemas: SchemaSet }
  readonly named: (set: FieldSet) => FieldSet
  readonly fields: (object: unknown) => FieldSet
}

function viewIn(
  apiVersion: string,
  { apiVersion: own, versionOf, type }: Versioned & { readonly type: OwnedType },
): VersionView {
  const other = apiVersion === own ? undefined : versionOf?.(apiVersion)
  const same = (object: JsonObject): JsonObject => object
  const { schema, schemas } = other
    ? { schema: other.schemas[other.schemaName] ?? {}, schemas: other.schemas }
    : type
  const fromOwn = other
    ? (object: JsonObject) => filled(other.fromOwn(object), schema, schemas)
    : same
  const toOwn = other
    ? (object: JsonObject) => filled(other.toOwn(object), type.schema, type.schemas)
    : same
  const named = (set: FieldSet): FieldSet => withNamedFields(set, schema, schemas)
  const fields = (object: unknown): FieldSet => named(ownedFields(object, schema, schemas))
  return { type: { schema, schemas }, fromOwn, toOwn, named, fields }
}

function without(object: JsonObject, set: FieldSet, { type }: VersionView): JsonObject {
  const left = removeFields(object, set, type)
  return isJsonObject(left) ? left : {}
}
