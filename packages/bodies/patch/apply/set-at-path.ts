import { isJsonObject, memberOf, setMember, type Schema, type SchemaSet } from '@skerry/api'
import { deducedSchema, memberSchema, shapeOf, shapeOfValue } from './shape.ts'

/**
 * Returns a copy of the object with the value at a path of three-way-merge.ts; undefined removes what is there.
 * Missing maps on the way are made. A missing item of a list is added at the end. A path that does not fit the object
 * changes nothing.
 */
export function setAtPath(
  object: unknown,
  path: readonly string[],
  value: unknown,
  type: { readonly schema: Schema; readonly schemas: SchemaSet },
): unknown {
  const [step, ...rest] = path
  if (step === undefined || (object === undefined && value === undefined)) return value
  const { schema, schemas } = type
  const shape = shapeOfValue(shapeOf(schema, schemas), object ?? {})
  if (step.startsWith('f:')) {
    if (object !== undefined && !isJsonObject(object)) return object
    const key = step.slice(2)
    const copy = { ...object }
    const below = (shape.type === 'map' ? memberSchema(shape, key) : undefined) ?? deducedSchema
    const next = setAtPath(memberOf(copy, key), rest, value, { schema: below, schemas })
    if (next === undefined) delete copy[key]
    else setMember(copy, key, next)
    return copy
  }
  const list = shapeOf(schema, schemas)
  if (list.type !== 'list' || (object !== undefined && !Array.isArray(object))) return object
  const items: readonly unknown[] = object ?? []
  const at = items.findIndex((item) => list.elementOf(item) === step)
  const next = setAtPath(items[at], rest, value, { schema: list.item, schemas })
  if (at < 0) return next === undefined ? items : [...items, next]
  return next === undefined ? items.toSpliced(at, 1) : items.with(at, next)
}
