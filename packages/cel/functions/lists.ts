import { CelRuntimeError } from '../language/cel-errors.ts'
import { celTypes, listType, typeParameter, type CelType } from '../language/cel-type.ts'
import { CelDuration, CelUint, type CelList, type CelValue } from '../language/cel-value.ts'
import { fixedRange, product, scaled, sum, unbounded } from '../estimate/range.ts'
import { elementsEstimate, sizeAt, type Estimate } from '../estimate/standard-estimates.ts'
import { contains, madeList } from '../evaluate/made-list.ts'
import type { CelLibrary, Overload } from '../check/library.ts'
import { areEqual } from '../values/equality.ts'
import {
  isList,
  isMap,
  itemsOf,
  lengthOf,
  listOf,
  noSuchOverload,
  sizeOf,
} from '../values/kinds.ts'
import { declare, member, plain } from './declare.ts'
import { add, compareValues } from './operators.ts'
import { celBounds } from '../limits-table.ts'

const { bool, int, uint, double, string, bytes, timestamp, duration, dyn } = celTypes
const a = typeParameter('T')
const listOfA = listType(a)

const listLimits = celBounds.lists

const comparable: Readonly<Record<string, CelType>> = Object.freeze({
  int,
  uint,
  double,
  bool,
  duration,
  timestamp,
  string,
  bytes,
})

const zeros: Readonly<Record<string, CelValue>> = Object.freeze({
  int: 0n,
  uint: new CelUint(0n),
  double: 0,
  duration: new CelDuration(0n),
})

function list(value: CelValue | undefined): CelList {
  if (value === undefined || !isList(value)) throw noSuchOverload()
  return value
}

/** Counts as upstream's list library does: an element is 1, text a tenth of its length. */
function traversed(value: CelValue): number {
  if (typeof value === 'string') return Math.floor(lengthOf(value) * 0.1)
  if (value instanceof Uint8Array) return Math.floor(value.length * 0.1)
  if (value === null || typeof value !== 'object') return 1
  if (isList(value))
    return [...itemsOf(value)].reduce<number>((total, one) => total + traversed(one), 0)
  if (!isMap(value)) return 1
  return [...value.keys()].reduce<number>(
    (total, key) => total + traversed(key) + traversed(value.get(key) ?? null),
    0,
  )
}

const scanning = {
  cost: ([value = null]: readonly CelValue[]): number => traversed(value),
  estimate: elementsEstimate,
  isCostByName: true,
}

function forTypes(
  types: readonly string[],
  make: (name: string, type: CelType) => Overload,
): Overload[] {
  return types.map((name) => make(name, comparable[name] ?? dyn))
}

function extreme(name: string, isBetter: (order: number) => boolean) {
  return (value?: CelValue): CelValue => {
    const items = [...itemsOf(list(value))]
    const [first, ...others] = items
    if (first === undefined) throw new CelRuntimeError(`${name} called on empty list`)
    return others.reduce<CelValue>(
      (best, item) => (isBetter(compareValues(item, best) ?? 0) ? item : best),
      first,
    )
  }
}

function isSorted(value?: CelValue): boolean {
  const items = [...itemsOf(list(value))]
  return items.every(
    (item, at) => at === 0 || (compareValues(items[at - 1] ?? null, item) ?? 1) <= 0,
  )
}

/** Adds isSorted(), sum(), min(), max(), indexOf() and lastIndexOf() of lists. */
export const listLibrary: CelLibrary = {
  name: 'lists',
  functions: [
    declare(
      'isSorted',
      ...forTypes(Object.keys(comparable), (name, type) =>
        member(
          { id: `list_${name}_is_sorted_bool`, takes: [listType(type)], gives: bool },
          isSorted,
          scanning,
        ),
      ),
    ),
    declare(
      'sum',
      ...forTypes(Object.keys(zeros), (name, type) =>
        member(
          { id: `list_${name}_sum_${name}`, takes: [listType(type)], gives: type },
          (value) =>
            [...itemsOf(list(value))].reduce((total, item) => add(total, item), zeros[name] ?? 0n),
          scanning,
        ),
      ),
    ),
    ...(['max', 'min'] as const).map((which) =>
      declare(
        which,
        ...forTypes(Object.keys(comparable), (name, type) =>
          member(
            { id: `list_${name}_${which}_${name}`, takes: [listType(type)], gives: type },
            extreme(which, (order) => (which === 'max' ? order > 0 : order < 0)),
            scanning,
          ),
        ),
      ),
    ),
    declare(
      'indexOf',
      member(
        { id: 'list_a_index_of_int', takes: [listOfA, a], gives: int },
        (value, item = null) =>
          BigInt([...itemsOf(list(value))].findIndex((one) => areEqual(one, item))),
        scanning,
      ),
    ),
    declare(
      'lastIndexOf',
      member(
        { id: 'list_a_last_index_of_int', takes: [listOfA, a], gives: int },
        (value, item = null) =>
          BigInt([...itemsOf(list(value))].findLastIndex((one) => areEqual(one, item))),
        scanning,
      ),
    ),
  ],
}

const callAndList = 11

function allocating(size: number, factor = 1): number {
  return Math.trunc(size * factor) + callAndList
}

function allocation(factor: number, size: { min: number; max: number }): ReturnType<Estimate> {
  return { cost: sum(scaled(size, factor), fixedRange(callAndList)), resultSize: size }
}

function selfCompared(value: CelValue): number {
  const items = list(value)
  const first = items.size > 0 ? items.at(0) : null
  const isText = typeof first === 'string' || first instanceof Uint8Array
  return allocating(items.size * items.size, isText ? 2.1 : 2)
}

function squared(at: number, factor = 2): Estimate {
  return (args) => {
    const size = sizeAt(args, at)
    return allocation(factor, product(size, size))
  }
}

function literalOf(args: Parameters<Estimate>[0], at: number, otherwise: number): number {
  const literal = args[at]?.literal
  return typeof literal === 'bigint' ? Math.max(Number(literal), 0) : otherwise
}

const ofResult = {
  cost: (_: readonly CelValue[], result: CelValue): number => allocating(sizeOf(result)),
}

const flattening = {
  cost: ([value = null, depth = 1n]: readonly CelValue[]): number =>
    allocating(sizeOf(value), typeof depth === 'bigint' ? Number(depth) : 1),
  estimate: ((args) =>
    allocation(
      args.length > 1 ? literalOf(args, 1, unbounded) : 1,
      sizeAt(args, 0),
    )) satisfies Estimate,
}

/** Adds cel-go's extension for lists, version 3, with the macro sortBy(). */
export const listExtensionLibrary: CelLibrary = {
  name: 'list extension',
  macros: ['sort-by'],
  functions: [
    declare(
      'slice',
      member({ id: 'list_slice', takes: [listOfA, int, int], gives: listOfA }, slice, {
        ...ofResult,
        estimate: (args) => {
          const from = literalOf(args, 1, 0)
          const to = literalOf(args, 2, sizeAt(args, 0).max)
          return allocation(1, fixedRange(Math.max(to - from, 0)))
        },
      }),
    ),
    declare(
      'flatten',
      member(
        { id: 'list_flatten', takes: [listType(listOfA)], gives: listOfA },
        flatten,
        flattening,
      ),
      member(
        { id: 'list_flatten_int', takes: [listType(dyn), int], gives: listType(dyn) },
        flatten,
        flattening,
      ),
    ),
    declare(
      'sort',
      ...forTypes(Object.keys(comparable), (name, type) =>
        member(
          { id: `list_${name}_sort`, takes: [listType(type)], gives: listType(type) },
          (value) => sortBy(list(value), list(value)),
          {
            cost: ([value = null]) => selfCompared(value),
            estimate: squared(0, name === 'string' || name === 'bytes' ? 2.1 : 2),
          },
        ),
      ),
    ),
    declare(
      '@sortByAssociatedKeys',
      ...forTypes(Object.keys(comparable), (name, type) =>
        member(
          {
            id: `list_${name}_sortByAssociatedKeys`,
            takes: [listOfA, listType(type)],
            gives: listOfA,
          },
          (value, keys) => sortBy(list(value), list(keys)),
          {
            cost: ([, keys = null]) => selfCompared(keys),
            estimate: squared(1, name === 'string' || name === 'bytes' ? 2.1 : 2),
          },
        ),
      ),
    ),
    declare(
      'lists.range',
      plain({ id: 'lists_range', takes: [int], gives: listType(int) }, range, {
        ...ofResult,
        estimate: (args) => allocation(1, fixedRange(literalOf(args, 0, unbounded))),
      }),
    ),
    declare(
      'reverse',
      member(
        { id: 'list_reverse', takes: [listOfA], gives: listOfA },
        (value) => madeList([...itemsOf(list(value))].toReversed()),
        {
          ...ofResult,
          estimate: (args) => allocation(1, sizeAt(args, 0)),
        },
      ),
    ),
    declare(
      'distinct',
      member({ id: 'list_distinct', takes: [listOfA], gives: listOfA }, distinct, {
        cost: ([value = null]) => selfCompared(value),
        estimate: squared(0),
      }),
    ),
  ],
}

function slice(value?: CelValue, from?: CelValue, to?: CelValue): CelValue {
  const items = list(value)
  const [start, end] = [Number(from), Number(to)]
  const call = `cannot slice(${start}, ${end})`
  if (start < 0 || end < 0) throw new CelRuntimeError(`${call}, negative indexes not supported`)
  if (start > end) {
    throw new CelRuntimeError(`${call}, start index must be less than or equal to end index`)
  }
  if (end > items.size) throw new CelRuntimeError(`${call}, list is length ${items.size}`)
  return listOf([...itemsOf(items)].slice(start, end))
}

function flatten(value?: CelValue, depth: CelValue = 1n): CelValue {
  const levels = Number(depth)
  if (levels < 0) throw new CelRuntimeError('level must be non-negative')
  const flat = (items: CelList, left: number): CelValue[] =>
    [...itemsOf(items)].flatMap((item) =>
      isList(item) && left > 0 ? flat(item, left - 1) : [item],
    )
  return madeList(flat(list(value), levels))
}

function sortBy(values: CelList, keys: CelList): CelValue {
  const keyed = [...itemsOf(values)].map((value, at) => ({ value, key: keys.at(at) }))
  const [first] = keyed
  const sorted = keyed.toSorted((left, right) => compareValues(left.key, right.key) ?? 0)
  if (first && keyed.length === 1) compareValues(first.key, first.key)
  return madeList(sorted.map(({ value }) => value))
}

function range(count?: CelValue): CelValue {
  const size = Number(count)
  if (size > listLimits.rangeMax)
    throw new CelRuntimeError(`cannot make a range of ${size} numbers`)
  return madeList(Array.from({ length: Math.max(size, 0) }, (_, at) => BigInt(at)))
}

function distinct(value?: CelValue): CelValue {
  const found: CelValue[] = []
  for (const item of itemsOf(list(value))) {
    if (!found.some((other) => areEqual(other, item))) found.push(item)
  }
  return madeList(found)
}

const setCost = (factor: number) => ({
  cost: ([left = null, right = null]: readonly CelValue[]): number =>
    1 + sizeOf(left) * sizeOf(right) * factor,
  estimate: ((args) => ({
    cost: sum(scaled(product(sizeAt(args, 0), sizeAt(args, 1)), factor), fixedRange(1)),
  })) satisfies Estimate,
})

function holdsAll(outer: CelList, inner: CelList): boolean {
  return [...itemsOf(inner)].every((item) => contains(outer, item))
}

/** Adds sets.contains(), sets.equivalent() and sets.intersects() of lists. */
export const setLibrary: CelLibrary = {
  name: 'sets',
  functions: [
    declare(
      'sets.contains',
      plain(
        { id: 'list_sets_contains_list', takes: [listOfA, listOfA], gives: bool },
        (left, right) => holdsAll(list(left), list(right)),
        setCost(1),
      ),
    ),
    declare(
      'sets.equivalent',
      plain(
        { id: 'list_sets_equivalent_list', takes: [listOfA, listOfA], gives: bool },
        (left, right) => holdsAll(list(left), list(right)) && holdsAll(list(right), list(left)),
        setCost(2),
      ),
    ),
    declare(
      'sets.intersects',
      plain(
        { id: 'list_sets_intersects_list', takes: [listOfA, listOfA], gives: bool },
        (left, right) => [...itemsOf(list(left))].some((item) => contains(list(right), item)),
        setCost(1),
      ),
    ),
  ],
}
