import { CelRuntimeError } from '../language/cel-errors.ts'
import { celTypes, listType, mapType, optionalType, typeParameter } from '../language/cel-type.ts'
import { CelOptional, CelUint, type CelMap, type CelValue } from '../language/cel-value.ts'
import { madeList } from '../evaluate/made-list.ts'
import type { CelLibrary } from '../check/library.ts'
import { isList, isMap, itemsOf, noSuchOverload, sizeOf } from '../values/kinds.ts'
import { mapPlus } from '../values/made-map.ts'
import { declare, member, plain } from './declare.ts'

const a = typeParameter('V')
const optionalA = optionalType(a)
const listOfOptionals = listType(optionalA)

/** Adds `optional.of` and related functions, with the macros optMap() and optFlatMap(). */
export const optionalLibrary: CelLibrary = {
  name: 'optional',
  macros: ['optional'],
  functions: [
    declare(
      'optional.of',
      plain(
        { id: 'optional_of', takes: [a], gives: optionalA },
        (value = null) => new CelOptional(value),
      ),
    ),
    declare(
      'optional.ofNonZeroValue',
      plain(
        { id: 'optional_ofNonZeroValue', takes: [a], gives: optionalA },
        (value = null) => new CelOptional(isZero(value) ? undefined : value),
      ),
    ),
    declare(
      'optional.none',
      plain({ id: 'optional_none', takes: [], gives: optionalA }, () => new CelOptional(undefined)),
    ),
    declare(
      'value',
      member({ id: 'optional_value', takes: [optionalA], gives: a }, (value = null) => {
        const held = optionalOf(value).value
        if (held === undefined) throw new CelRuntimeError('optional.none() dereference')
        return held
      }),
    ),
    declare(
      'hasValue',
      member(
        { id: 'optional_hasValue', takes: [optionalA], gives: celTypes.bool },
        (value = null) => optionalOf(value).value !== undefined,
      ),
    ),
    // The planner has its own steps for these two, because the second part may not be evaluated.
    declare(
      'or',
      member(
        { id: 'optional_or_optional', takes: [optionalA, optionalA], gives: optionalA },
        first,
      ),
    ),
    declare(
      'orValue',
      member({ id: 'optional_orValue_value', takes: [optionalA, a], gives: a }, first),
    ),
    declare(
      'first',
      member({ id: 'list_first', takes: [listType(a)], gives: optionalA }, (list = null) =>
        itemAt(list, 0),
      ),
    ),
    declare(
      'last',
      member({ id: 'list_last', takes: [listType(a)], gives: optionalA }, (list = null) =>
        itemAt(list, -1),
      ),
    ),
    declare(
      'optional.unwrap',
      plain({ id: 'optional_unwrap', takes: [listOfOptionals], gives: listType(a) }, unwrapAll),
    ),
    declare(
      'unwrapOpt',
      member({ id: 'optional_unwrapOpt', takes: [listOfOptionals], gives: listType(a) }, unwrapAll),
    ),
  ],
}

function optionalOf(value: CelValue): CelOptional {
  if (value instanceof CelOptional) return value
  throw noSuchOverload()
}

function first(value: CelValue = null): CelValue {
  return value
}

function itemAt(list: CelValue, at: -1 | 0): CelValue {
  if (!isList(list)) throw noSuchOverload()
  if (list.size === 0) return new CelOptional(undefined)
  return new CelOptional(list.at(at === 0 ? 0 : list.size - 1))
}

function unwrapAll(list: CelValue = null): CelValue {
  if (!isList(list)) throw noSuchOverload()
  const items = [...itemsOf(list)].map((item) => optionalOf(item).value)
  return madeList(items.filter((item) => item !== undefined))
}

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === 0 || value === 0n || value === '') return true
  if (value instanceof CelUint) return value.value === 0n
  if (value instanceof Uint8Array || isList(value) || isMap(value)) return sizeOf(value) === 0
  return typeof value === 'object' && 'nanos' in value && value.nanos === 0n
}

const k = typeParameter('K')
const mapKV = mapType(k, a)

/** Adds all(), exists() and the like with index or key, transformList() and transformMap(). */
export const twoVariableLibrary: CelLibrary = {
  name: 'two-variable comprehensions',
  macros: ['two-variable'],
  functions: [
    declare(
      'cel.@mapInsert',
      plain(
        { id: '@mapInsert_map_map', takes: [mapKV, mapKV], gives: mapKV },
        (map = null, entries = null) => {
          if (!isMap(map) || !isMap(entries)) throw noSuchOverload()
          return [...entries.keys()].reduce<CelMap>(
            (all, key) => mapPlus(all, key, entries.get(key) ?? null),
            map,
          )
        },
      ),
      plain(
        { id: '@mapInsert_map_key_value', takes: [mapKV, k, a], gives: mapKV },
        (map = null, key = null, value = null) => {
          if (!isMap(map)) throw noSuchOverload()
          return mapPlus(map, key, value)
        },
      ),
    ),
  ],
}

/** Adds the macro cel.bind(). */
export const bindingLibrary: CelLibrary = { name: 'bindings', macros: ['bind'], functions: [] }
