import { isJsonObject } from '@skerry/api'
import { type LuaRun } from './lua-run.ts'
import { LuaTable } from './lua-table.ts'
import { LuaError, LuaLimitError, toBytes, toText, typeOf, type LuaValue } from './lua-value.ts'
import { elementBytes, luaLimits } from './limits-table.ts'

/** Converts a JSON value for a script: null becomes nil, so the key is missing. */
export function luaOf(value: unknown, run: LuaRun, depth = 0): LuaValue {
  checkDepth(depth)
  switch (typeof value) {
    case 'boolean':
    case 'number':
      return value
    case 'string':
      run.spend(value.length)
      return toBytes(value)
    default:
  }
  if (Array.isArray(value)) {
    run.spend(elementBytes * (value.length + 1))
    const row = value.map((each) => luaOf(each, run, depth + 1))
    return new LuaTable(row.filter((each) => each !== undefined))
  }
  if (!isJsonObject(value)) return undefined
  const table = new LuaTable()
  run.spend(elementBytes)
  for (const [key, each] of Object.entries(value)) {
    table.set(toBytes(key), luaOf(each, run, depth + 1), run)
  }
  return table
}

function checkDepth(depth: number): void {
  if (depth <= luaLimits.valueDepthMax) return
  throw new LuaLimitError(`a value is nested more than ${luaLimits.valueDepthMax} deep`)
}

/**
 * Converts a script's result to JSON. An empty table may be an object or an array: it becomes what
 * one of the references has at its place, and is omitted if none has anything there, as in Karmada.
 * Throws a LuaError for values without a JSON form: functions, NaN, and tables with keys of both
 * types.
 */
export function jsonOf(value: LuaValue, references: readonly unknown[], run: LuaRun): unknown {
  const shapes = { objects: new Set<string>(), arrays: new Set<string>() }
  for (const reference of references) collectEmpty(reference, '', shapes)
  return convert(value, { shapes, run }, { path: '', depth: 0 })
}

interface Shapes {
  /** The paths of empty tables, without the indexes of arrays. */
  readonly objects: Set<string>
  readonly arrays: Set<string>
}

function below(path: string, key: string): string {
  return `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function collectEmpty(value: unknown, path: string, shapes: Shapes): void {
  if (Array.isArray(value)) {
    if (value.length === 0) shapes.arrays.add(path)
    for (const each of value) collectEmpty(each, path, shapes)
  } else if (isJsonObject(value)) {
    const entries = Object.entries(value)
    if (entries.length === 0) shapes.objects.add(path)
    for (const [key, each] of entries) collectEmpty(each, below(path, key), shapes)
  }
}

interface Conversion {
  readonly shapes: Shapes
  readonly run: LuaRun
}

interface Place {
  readonly path: string
  readonly depth: number
}

function convert(value: LuaValue, conversion: Conversion, { path, depth }: Place): unknown {
  checkDepth(depth)
  conversion.run.step()
  if (typeof value === 'string') {
    conversion.run.copy(value.length)
    conversion.run.spend(value.length)
    return toText(value)
  }
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value
    throw new LuaError(`${shown(path)} is not a number that JSON can represent`)
  }
  if (value === undefined || typeof value === 'boolean') return value
  if (!(value instanceof LuaTable)) throw new LuaError(`${shown(path)} is a ${typeOf(value)}`)
  if (value.isEmpty) {
    conversion.run.copy(path.length)
    if (conversion.shapes.objects.has(path)) return {}
    return conversion.shapes.arrays.has(path) ? [] : undefined
  }
  return value.length > 0
    ? arrayOf(value, conversion, { path, depth })
    : objectOf(value, conversion, { path, depth })
}

function shown(path: string): string {
  return path === '' ? 'the result' : path
}

function arrayOf(table: LuaTable, conversion: Conversion, { path, depth }: Place): unknown[] {
  let count = 0
  for (const key of table.keys(conversion.run)) {
    count += 1
    if (typeof key !== 'number') throw new LuaError(`${shown(path)} has keys of both kinds`)
  }
  if (count !== table.length || table.row().includes(undefined)) {
    throw new LuaError(`${shown(path)} is a list with holes`)
  }
  return table
    .row()
    .map((each) => convert(each, conversion, { path, depth: depth + 1 }))
    .filter((each) => each !== undefined)
}

function objectOf(table: LuaTable, conversion: Conversion, { path, depth }: Place): unknown {
  const entries: [string, unknown][] = []
  for (const key of table.keys(conversion.run)) {
    if (typeof key === 'number') throw new LuaError(`${shown(path)} is a list with holes`)
    if (typeof key !== 'string') throw new LuaError(`${shown(path)} has a ${typeOf(key)} as a key`)
    conversion.run.match(key.length)
    conversion.run.spend(elementBytes + key.length)
    const name = toText(key)
    const place = { path: below(path, name), depth: depth + 1 }
    const value = convert(table.get(key), conversion, place)
    if (value !== undefined) entries.push([name, value])
  }
  // Object.fromEntries is used instead of assignment, because a key may be `__proto__`.
  return Object.fromEntries(entries)
}
