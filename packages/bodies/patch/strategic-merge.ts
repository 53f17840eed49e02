import { wrongJsonType } from '../encoding/unreadable-body.ts'
import {
  StatusError,
  cloneJson,
  isJsonObject,
  memberOf,
  setMember,
  type JsonObject,
  type Schema,
  type SchemaSet,
} from '@skerry/api'
import { goTypeOf, printGo } from './print-go.ts'
import { keepOrder, partition, removeValues, union } from './list-order.ts'

/**
 * Kubernetes' own patch: lists with a merge key are merged by it, and `$`-directives express what
 * plain values cannot ($patch, $retainKeys, $setElementOrder/…, $deleteFromPrimitiveList/…). See
 * the design proposal "preserve order in strategic merge patch".
 */
const patchDirective = '$patch'
const retainKeysDirective = '$retainKeys'
const orderPrefix = '$setElementOrder'
const deletePrefix = '$deleteFromPrimitiveList'

export interface TypedBy {
  schemas: SchemaSet
  schemaName: string
}

/**
 * Returns a new object; neither argument changes. Throws StatusError BadRequest if the patch is
 * malformed, Unknown if upstream answers 500 for a meaningless directive.
 */
export function applyStrategicMergePatch(
  original: Readonly<JsonObject>,
  patch: unknown,
  type: TypedBy,
): JsonObject {
  if (patch === null) return cloneJson(original)
  if (!isJsonObject(patch)) {
    throw badRequest(wrongJsonType(patch, 'value of type map[string]interface {}'))
  }
  const merger = new StrategicMerger(type.schemas)
  return merger.mergeObject(cloneJson(original), cloneJson(patch), { ref: type.schemaName })
}

class StrategicMerger {
  readonly #schemas: SchemaSet

  constructor(schemas: SchemaSet) {
    this.#schemas = schemas
  }

  /** Changes both arguments. */
  mergeObject(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
    const directive = memberOf(patch, patchDirective)
    if (directive !== undefined) return mergedByDirective(directive, patch)
    retainKeys(original, patch)
    this.#mergeOrderedLists(original, patch, schema)
    for (const [key, value] of Object.entries(patch)) {
      if (key.startsWith(deletePrefix)) {
        this.#deleteFromList(original, fieldAfter(key, deletePrefix), value)
      } else if (value === null) {
        delete original[key]
      } else {
        this.#mergeMember(original, key, { value, schema })
      }
    }
    return original
  }

  #mergeMember(original: JsonObject, key: string, patch: { value: unknown; schema: Schema }): void {
    const old = memberOf(original, key)
    const field = this.#fieldOf(patch.schema, key)
    const { value } = patch
    if (isJsonObject(old) && isJsonObject(value)) {
      const isReplaced = strategyOf(field) === 'replace'
      setMember(original, key, isReplaced ? value : this.mergeObject(old, value, field))
    } else if (Array.isArray(old) && Array.isArray(value)) {
      const isMerged = strategyOf(field) === 'merge'
      setMember(original, key, isMerged ? this.#mergeList(old, value, field) : value)
    } else {
      const kept = withoutDirectives(withoutNulls(value))
      if (kept === undefined) delete original[key]
      else setMember(original, key, kept)
    }
  }

  #deleteFromList(original: JsonObject, key: string, value: unknown): void {
    const old = memberOf(original, key)
    if (Array.isArray(old) && Array.isArray(value))
      setMember(original, key, removeValues(old, value))
  }

  /** `$setElementOrder/x` and `x` belong together: the list is merged, then put into that order. */
  #mergeOrderedLists(original: JsonObject, patch: JsonObject, schema: Schema): void {
    for (const [directive, order] of Object.entries(patch)) {
      if (!directive.startsWith(orderPrefix)) continue
      delete patch[directive]
      if (!Array.isArray(order)) {
        throw internal(`expected a []interface {}, but received a ${goTypeOf(order)}`)
      }
      const key = fieldAfter(directive, orderPrefix)
      const field = this.#fieldOf(schema, key)
      const old = listMember(original, key)
      const added = listMember(patch, key)
      delete patch[key]
      if (added) checkOrder(added, order, field.patchMergeKey)
      if (!old && !added) continue
      const merged = this.#mergedLists(old, added, field)
      const parts = partition(merged, order, field.patchMergeKey)
      const ordered = keepOrder({ ...parts, order, serverOrder: old ?? [] }, field.patchMergeKey)
      setMember(original, key, ordered)
    }
  }

  #mergedLists(
    old: readonly unknown[] | undefined,
    added: readonly unknown[] | undefined,
    field: Schema,
  ): readonly unknown[] {
    if (!added) return old ?? []
    if (!old) {
      const kept = withoutDirectives(added)
      return Array.isArray(kept) ? kept : []
    }
    return strategyOf(field) === 'merge' ? this.#mergeList(old, added, field) : added
  }

  #mergeList(
    old: readonly unknown[],
    patch: readonly unknown[],
    field: Schema,
  ): readonly unknown[] {
    if (old.length === 0 && patch.length === 0) return old
    const key = field.patchMergeKey
    const areObjects = checkItems(old, patch)
    if (!areObjects) {
      const parts = partition(union(old, patch), patch)
      return keepOrder({ ...parts, order: patch, serverOrder: old })
    }
    if (key === undefined) throw internal('cannot merge lists without merge key for struct')
    const { kept, items } = applyListDirectives(
      old.filter(isJsonObject),
      patch.filter(isJsonObject),
      key,
    )
    const itemSchema = this.#resolve(field.items ?? {})
    const merged = [...kept]
    // A patch can have as many items as fit a body, so each must be found without a search.
    const places = new Map<unknown, number>()
    for (const [at, item] of kept.entries()) if (!places.has(item[key])) places.set(item[key], at)
    for (const item of items) {
      const value = keyValueOf(item, key)
      const at = places.get(value) ?? merged.length
      const found = merged[at]
      merged[at] = found ? this.mergeObject(found, item, itemSchema) : withoutNulls(item)
      places.set(value, at)
    }
    for (const item of merged) keyValueOf(item, key)
    return keepOrder({ ...partition(merged, items, key), order: items, serverOrder: kept }, key)
  }

  /** The schema of a member together with the patch strategy declared in its place. */
  #fieldOf(schema: Schema, key: string): Schema {
    const { properties, additionalProperties } = this.#resolve(schema)
    if (properties && Object.hasOwn(properties, key)) return properties[key] ?? {}
    return additionalProperties ?? {}
  }

  #resolve(schema: Schema): Schema {
    return schema.ref === undefined ? schema : (this.#schemas[schema.ref] ?? {})
  }
}

function strategyOf(field: Schema): string | undefined {
  return field.patchStrategy?.find((strategy) => strategy !== 'retainKeys')
}

function mergedByDirective(directive: unknown, patch: JsonObject): JsonObject {
  if (directive === 'replace') {
    delete patch[patchDirective]
    return patch
  }
  if (directive === 'delete') return {}
  throw internal(`unknown patch type: ${printGo(directive)} in map: ${printGo(patch)}`)
}

/** Drops fields of the original that are not named. Every field of the patch must be named. */
function retainKeys(original: JsonObject, patch: JsonObject): void {
  const keys = memberOf(patch, retainKeysDirective)
  if (keys === undefined) return
  delete patch[retainKeysDirective]
  if (!Array.isArray(keys)) throw badRequest('invalid patch format of retainKeys')
  const retained = new Set<unknown>(keys)
  for (const [key, value] of Object.entries(patch)) {
    const isDirective = key.startsWith(deletePrefix) || key.startsWith(orderPrefix)
    if (value !== null && !isDirective && !retained.has(key)) {
      throw badRequest('invalid patch format of retainKeys')
    }
  }
  for (const key of Object.keys(original)) {
    if (!retained.has(key)) delete original[key]
  }
}

/** Executes `$patch` in list items. Returns the remaining items and those still to be merged. */
function applyListDirectives(
  old: readonly JsonObject[],
  patch: readonly JsonObject[],
  key: string,
): { kept: readonly JsonObject[]; items: readonly JsonObject[] } {
  const deleted = new Set<unknown>()
  const items: JsonObject[] = []
  let isReplaced = false
  for (const item of patch) {
    const directive = memberOf(item, patchDirective)
    if (directive === undefined) {
      items.push(item)
    } else if (directive === 'delete') {
      deleted.add(keyValueOf(item, key))
    } else if (directive === 'replace') {
      isReplaced = true
    } else if (directive === 'merge') {
      throw internal('merging lists cannot yet be specified in the patch')
    } else {
      throw internal(`unknown patch type: ${printGo(directive)} in map: ${printGo(item)}`)
    }
  }
  if (isReplaced) return { kept: items, items: [] }
  return { kept: old.filter((candidate) => !deleted.has(candidate[key])), items }
}

function keyValueOf(item: Readonly<JsonObject>, key: string): unknown {
  const value = memberOf(item, key)
  if (value !== undefined) return value
  throw internal(`map: ${printGo(item)} does not contain declared merge key: ${key}`)
}

/** Items of the patch must be in the order list, in the same order; deletions may be missing. */
function checkOrder(
  patch: readonly unknown[],
  order: readonly unknown[],
  key: string | undefined,
): void {
  if (order.length === 0) return
  const valueOf = (item: unknown): unknown =>
    key !== undefined && isJsonObject(item) ? keyValueOf(item, key) : item
  const wanted = patch
    .filter((item) => !isJsonObject(item) || !(patchDirective in item))
    .map(valueOf)
  let at = 0
  for (const item of order) {
    if (at < wanted.length && valueOf(item) === wanted[at]) at += 1
  }
  if (at === wanted.length) return
  throw internal(
    `The order in patch list:\n${printGo(patch)}\n doesn't match ${orderPrefix} list:\n${printGo(order)}\n`,
  )
}

/** Returns true if the items are objects. They must all have one type, and lists of lists do not merge. */
function checkItems(old: readonly unknown[], patch: readonly unknown[]): boolean {
  const types = new Set([...old, ...patch].map(goTypeOf))
  if (types.has('[]interface {}')) {
    throw new StatusError('Invalid', 'lists of lists are not supported', { details: {} })
  }
  if (types.size > 1) {
    throw internal(`list element types are not identical: ${printGo([old, patch])}`)
  }
  return types.has('map[string]interface {}')
}

function listMember(object: Readonly<JsonObject>, key: string): unknown[] | undefined {
  const value = memberOf(object, key)
  if (value === undefined || Array.isArray(value)) return value
  throw internal(`expected a []interface {}, but received a ${goTypeOf(value)}`)
}

function fieldAfter(directive: string, prefix: string): string {
  if (directive[prefix.length] === '/') return directive.slice(prefix.length + 1)
  const what = prefix === orderPrefix ? 'setElementOrder list' : 'primitive list'
  throw badRequest(`invalid patch format of ${what}`)
}

/** Returns undefined if the value itself is a directive. Works in place, like withoutNulls. */
function withoutDirectives(value: unknown): unknown {
  if (isDirective(value)) return undefined
  eachContainer(value, (container) => {
    if (Array.isArray(container)) {
      if (!container.some(isDirective)) return
      const kept = container.filter((item) => !isDirective(item))
      container.splice(0, container.length, ...kept)
      return
    }
    for (const [key, member] of Object.entries(container)) {
      if (isDirective(member)) delete container[key]
    }
  })
  return value
}

function isDirective(value: unknown): boolean {
  return isJsonObject(value) && Object.hasOwn(value, patchDirective)
}

function withoutNulls<T>(value: T): T {
  eachContainer(value, (container) => {
    if (Array.isArray(container)) return
    for (const [key, member] of Object.entries(container)) {
      if (member === null) delete container[key]
    }
  })
  return value
}

/**
 * Visits outer containers before inner ones. There is no recursion, because patches nest deeper
 * than the stack allows.
 */
function eachContainer(root: unknown, change: (container: JsonObject | unknown[]) => void): void {
  const pending = [root]
  while (pending.length > 0) {
    const value = pending.pop()
    if (!Array.isArray(value) && !isJsonObject(value)) continue
    change(value)
    for (const member of Object.values(value)) {
      if (typeof member === 'object' && member !== null) pending.push(member)
    }
  }
}

function badRequest(message: string): StatusError {
  return new StatusError('BadRequest', message)
}

function internal(message: string): StatusError {
  return new StatusError('Unknown', message)
}
