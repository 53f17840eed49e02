import { CelRuntimeError } from '../language/cel-errors.ts'
import {
  celTypes,
  listType,
  mapType,
  optionalType,
  typeParameter,
  type CelType,
} from '../language/cel-type.ts'
import {
  CelDuration,
  CelOptional,
  CelTimestamp,
  CelUint,
  type CelValue,
} from '../language/cel-value.ts'
import {
  addEstimate,
  equalityEstimate,
  inListEstimate,
  listAddEstimate,
} from '../estimate/standard-estimates.ts'
import { concatenate, contains } from '../evaluate/made-list.ts'
import { traversalCost } from '../evaluate/plan.ts'
import type { FunctionDeclaration, Overload } from '../check/library.ts'
import { areEqual, compareBytes, compareNumbers, compareText } from '../values/equality.ts'
import { isList, isMap, isNumber, isObject, noSuchOverload, sizeOf } from '../values/kinds.ts'
import { checkDuration, checkTimestamp } from '../values/time-text.ts'
import { declare, plain } from './declare.ts'

const { bool, int, uint, double, string, bytes, timestamp, duration, dyn } = celTypes
const a = typeParameter('A')
const b = typeParameter('B')
const listOfA = listType(a)
const mapOfAB = mapType(a, b)

const smaller = ([left, right]: readonly CelValue[]): number =>
  Math.ceil(Math.min(sizeOf(left ?? null), sizeOf(right ?? null)) * 0.1)

function same(id: string, type: CelType, gives = type): Omit<Overload, 'call'> {
  return { id, parameters: [type, type], result: gives }
}

function pair(id: string, left: CelType, right: CelType, gives: CelType): Omit<Overload, 'call'> {
  return { id, parameters: [left, right], result: gives }
}

/** All overloads of an operator share one implementation, which checks the values' types. */
function operator(
  name: string,
  act: (left: CelValue, right: CelValue) => CelValue,
  overloads: readonly Omit<Overload, 'call'>[],
): FunctionDeclaration {
  const call = ([left = null, right = null]: readonly CelValue[]): CelValue => act(left, right)
  return { name, overloads: overloads.map((overload) => ({ ...overload, call })) }
}

export const operatorFunctions: readonly FunctionDeclaration[] = [
  operator('_==_', areEqual, [
    { ...same('equals', a, bool), cost: smaller, estimate: equalityEstimate },
  ]),
  operator('_!=_', (left, right) => !areEqual(left, right), [
    { ...same('not_equals', a, bool), cost: smaller, estimate: equalityEstimate },
  ]),
  ...['less', 'less_equals', 'greater', 'greater_equals'].map((name, at) => comparison(name, at)),
  operator('_+_', add, [
    { ...same('add_bytes', bytes), cost: (args) => traversalCost(...args), estimate: addEstimate },
    same('add_double', double),
    same('add_duration_duration', duration),
    pair('add_duration_timestamp', duration, timestamp, timestamp),
    pair('add_timestamp_duration', timestamp, duration, timestamp),
    same('add_int64', int),
    { ...same('add_list', listOfA), estimate: listAddEstimate },
    {
      ...same('add_string', string),
      cost: (args) => traversalCost(...args),
      estimate: addEstimate,
    },
    same('add_uint64', uint),
  ]),
  operator('_-_', subtract, [
    same('subtract_double', double),
    same('subtract_duration_duration', duration),
    same('subtract_int64', int),
    pair('subtract_timestamp_duration', timestamp, duration, timestamp),
    same('subtract_timestamp_timestamp', timestamp, duration),
    same('subtract_uint64', uint),
  ]),
  operator('_*_', multiply, [
    same('multiply_double', double),
    same('multiply_int64', int),
    same('multiply_uint64', uint),
  ]),
  operator('_/_', divide, [
    same('divide_double', double),
    same('divide_int64', int),
    same('divide_uint64', uint),
  ]),
  operator('_%_', modulo, [same('modulo_int64', int), same('modulo_uint64', uint)]),
  declare(
    '-_',
    plain({ id: 'negate_double', takes: [double], gives: double }, negate),
    plain({ id: 'negate_int64', takes: [int], gives: int }, negate),
  ),
  declare(
    '!_',
    plain({ id: 'logical_not', takes: [bool], gives: bool }, (value = null) => {
      if (typeof value !== 'boolean') throw noSuchOverload()
      return !value
    }),
  ),
  operator('@in', isIn, [
    {
      ...pair('in_list', a, listOfA, bool),
      cost: ([, list = null]) => sizeOf(list),
      estimate: inListEstimate,
    },
    pair('in_map', a, mapOfAB, bool),
  ]),
  ...['_&&_', '_||_'].map((name) =>
    operator(name, noValue, [same(name === '_&&_' ? 'logical_and' : 'logical_or', bool)]),
  ),
  declare('_?_:_', plain({ id: 'conditional', takes: [bool, a, a], gives: a }, noValue)),
  declare(
    '@not_strictly_false',
    plain({ id: 'not_strictly_false', takes: [bool], gives: bool }, noValue),
  ),
  operator('_[_]', noValue, [
    pair('index_list', listOfA, int, a),
    pair('index_map', mapOfAB, a, b),
    pair('optional_list_index_int', optionalType(listOfA), int, optionalType(a)),
    pair('optional_map_index_value', optionalType(mapOfAB), a, optionalType(b)),
  ]),
  operator('_[?_]', noValue, [
    pair('list_optindex_optional_int', listOfA, int, optionalType(a)),
    pair('optional_list_optindex_optional_int', optionalType(listOfA), int, optionalType(a)),
    pair('map_optindex_optional_value', mapOfAB, a, optionalType(b)),
    pair('optional_map_optindex_optional_value', optionalType(mapOfAB), a, optionalType(b)),
  ]),
  operator('_?._', noValue, [pair('select_optional_field', dyn, string, optionalType(a))]),
]

/** The planner has its own steps for these. */
function noValue(): never {
  throw new RangeError('Cannot call: the operator is not a function')
}

function comparison(name: string, at: number): FunctionDeclaration {
  const accepts = [
    (order: number) => order < 0,
    (order: number) => order <= 0,
    (order: number) => order > 0,
    (order: number) => order >= 0,
  ][at]
  const act = (left: CelValue, right: CelValue): boolean => {
    const order = compareValues(left, right)
    return order !== undefined && accepts?.(order) === true
  }
  const sized = { cost: smaller, estimate: equalityEstimate }
  const ids: readonly [string, CelType][] = [
    ['bool', bool],
    ['int64', int],
    ['uint64', uint],
    ['double', double],
    ['string', string],
    ['bytes', bytes],
    ['timestamp', timestamp],
    ['duration', duration],
  ]
  const numbers = ids.slice(1, 4)
  const mixed = numbers.flatMap(([left, leftType]) =>
    numbers
      .filter(([right]) => right !== left)
      .map(([right, rightType]) => pair(`${name}_${left}_${right}`, leftType, rightType, bool)),
  )
  const symbol = ['<', '<=', '>', '>='][at] ?? ''
  return operator(`_${symbol}_`, act, [
    ...ids.map(([id, type]) => ({
      ...same(`${name}_${id}`, type, bool),
      ...(id === 'string' || id === 'bytes' ? sized : {}),
    })),
    ...mixed,
  ])
}

/**
 * Returns a negative number, zero or a positive one, or undefined if either is NaN. Throws for
 * values without an order.
 */
export function compareValues(left: CelValue, right: CelValue): number | undefined {
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right)
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right)
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right)
  if (left instanceof Uint8Array && right instanceof Uint8Array) return compareBytes(left, right)
  if (left instanceof CelTimestamp && right instanceof CelTimestamp) {
    return compareNumbers(left.nanos, right.nanos)
  }
  if (left instanceof CelDuration && right instanceof CelDuration) {
    return compareNumbers(left.nanos, right.nanos)
  }
  throw noSuchOverload()
}

function checkInt(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new CelRuntimeError('integer overflow')
  return value
}

function checkUint(value: bigint): CelUint {
  if (BigInt.asUintN(64, value) !== value) throw new CelRuntimeError('unsigned integer overflow')
  return new CelUint(value)
}

export function add(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkInt(left + right)
  if (typeof left === 'number' && typeof right === 'number') return left + right
  if (typeof left === 'string' && typeof right === 'string') return left + right
  if (left instanceof CelUint && right instanceof CelUint)
    return checkUint(left.value + right.value)
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    return Uint8Array.from([...left, ...right])
  }
  if (left instanceof CelDuration) {
    if (right instanceof CelDuration)
      return new CelDuration(checkDuration(left.nanos + right.nanos))
    if (right instanceof CelTimestamp) return moved(right, left.nanos)
  }
  if (left instanceof CelTimestamp && right instanceof CelDuration) return moved(left, right.nanos)
  if (isList(left) && isList(right)) return concatenate(left, right)
  throw noSuchOverload()
}

function moved({ nanos }: CelTimestamp, by: bigint): CelTimestamp {
  return new CelTimestamp(checkTimestamp(nanos + by))
}

function subtract(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkInt(left - right)
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (left instanceof CelUint && right instanceof CelUint)
    return checkUint(left.value - right.value)
  if (left instanceof CelTimestamp) {
    if (right instanceof CelDuration) return moved(left, -right.nanos)
    if (right instanceof CelTimestamp)
      return new CelDuration(checkDuration(left.nanos - right.nanos))
  }
  if (left instanceof CelDuration && right instanceof CelDuration) {
    return new CelDuration(checkDuration(left.nanos - right.nanos))
  }
  throw noSuchOverload()
}

function multiply(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkInt(left * right)
  if (typeof left === 'number' && typeof right === 'number') return left * right
  if (left instanceof CelUint && right instanceof CelUint)
    return checkUint(left.value * right.value)
  throw noSuchOverload()
}

function divide(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'number' && typeof right === 'number') return left / right
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    if (right === 0n) throw new CelRuntimeError('division by zero')
    return checkInt(left / right)
  }
  if (left instanceof CelUint && right instanceof CelUint) {
    if (right.value === 0n) throw new CelRuntimeError('division by zero')
    return new CelUint(left.value / right.value)
  }
  throw noSuchOverload()
}

function modulo(left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    if (right === 0n) throw new CelRuntimeError('modulus by zero')
    if (right === -1n && left === -(1n << 63n)) throw new CelRuntimeError('integer overflow')
    return left % right
  }
  if (left instanceof CelUint && right instanceof CelUint) {
    if (right.value === 0n) throw new CelRuntimeError('modulus by zero')
    return new CelUint(left.value % right.value)
  }
  throw noSuchOverload()
}

function negate(value: CelValue = null): CelValue {
  if (typeof value === 'number') return -value
  if (typeof value === 'bigint') return checkInt(-value)
  throw noSuchOverload()
}

function isIn(value: CelValue, container: CelValue): boolean {
  if (isList(container)) return contains(container, value)
  if (isMap(container)) return container.get(value) !== undefined
  if (isObject(container)) return typeof value === 'string' && container.get(value) !== undefined
  if (container instanceof CelOptional) throw noSuchOverload()
  throw noSuchOverload()
}
