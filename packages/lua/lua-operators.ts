import { errorAt } from './lua-frame.ts'
import type { LuaRun } from './lua-run.ts'
import type { LuaBinaryOperator } from './lua-syntax.ts'
import { LuaTable } from './lua-table.ts'
import { LuaFunction, numberOf, numberText, typeOf, type LuaValue } from './lua-value.ts'

export type LuaOperation = (left: LuaValue, right: LuaValue, at: LuaPoint) => LuaValue

/** The line and the run of an operation. */
export interface LuaPoint {
  readonly run: LuaRun
  readonly line: number
}

export const operations: Readonly<Record<LuaBinaryOperator, LuaOperation>> = Object.freeze({
  '+': arithmetic((left, right) => left + right),
  '-': arithmetic((left, right) => left - right),
  '*': arithmetic((left, right) => left * right),
  '/': arithmetic((left, right) => left / right),
  '%': arithmetic((left, right) => left - Math.floor(left / right) * right),
  '^': arithmetic((left, right) => left ** right),
  '..': concatenate,
  '==': isSame,
  '~=': (left, right, at) => !isSame(left, right, at),
  '<': comparison((left, right) => left < right),
  '<=': comparison((left, right) => left <= right),
  '>': comparison((left, right) => left > right),
  '>=': comparison((left, right) => left >= right),
})

function arithmetic(compute: (left: number, right: number) => number): LuaOperation {
  return (left, right, { run, line }) => {
    if (typeof left === 'number' && typeof right === 'number') return compute(left, right)
    if (typeof left === 'string') run.match(left.length)
    if (typeof right === 'string') run.match(right.length)
    const [first, second] = [numberOf(left), numberOf(right)]
    if (first !== undefined && second !== undefined) return compute(first, second)
    const culprit = first === undefined ? left : right
    throw errorAt(line, `attempt to perform arithmetic on a ${typeOf(culprit)} value`)
  }
}

function isSame(left: LuaValue, right: LuaValue, { run }: LuaPoint): boolean {
  if (typeof left === 'string') readThrough(left, run)
  return left === right
}

/** Each pass over a long text takes time. */
function readThrough({ length }: string, run: LuaRun): void {
  if (length > 64) run.step(length >> 6)
}

/** Compares bytes, because texts are stored as such. */
function comparison(
  compare: (left: number | string, right: number | string) => boolean,
): LuaOperation {
  return (left, right, { run, line }) => {
    if (typeof left === 'number' && typeof right === 'number') return compare(left, right)
    if (typeof left === 'string' && typeof right === 'string') {
      readThrough(left, run)
      return compare(left, right)
    }
    throw errorAt(line, `attempt to compare ${typeOf(left)} with ${typeOf(right)}`)
  }
}

function concatenate(left: LuaValue, right: LuaValue, { run, line }: LuaPoint): string {
  const [first, second] = [pieceOf(left), pieceOf(right)]
  if (first === undefined || second === undefined) {
    const culprit = first === undefined ? left : right
    throw errorAt(line, `attempt to concatenate a ${typeOf(culprit)} value`)
  }
  run.copy(first.length + second.length)
  run.spend(first.length + second.length)
  return first + second
}

function pieceOf(value: LuaValue): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? numberText(value) : undefined
}

export function negate(value: LuaValue, { run, line }: LuaPoint): number {
  if (typeof value === 'string') run.match(value.length)
  const number = numberOf(value)
  if (number !== undefined) return -number
  throw errorAt(line, `attempt to perform arithmetic on a ${typeOf(value)} value`)
}

export function lengthOf(value: LuaValue, { line }: LuaPoint): number {
  if (typeof value === 'string' || value instanceof LuaTable) return value.length
  throw errorAt(line, `attempt to get length of a ${typeOf(value)} value`)
}

export function lookUp(object: LuaValue, key: LuaValue, { run, line }: LuaPoint): LuaValue {
  if (typeof key === 'string') readThrough(key, run)
  if (object instanceof LuaTable) return object.get(key)
  if (typeof object === 'string') return run.textMethods?.get(key)
  throw errorAt(line, `attempt to index a ${typeOf(object)} value${withKey(key)}`)
}

export function store(object: LuaValue, element: [LuaValue, LuaValue], at: LuaPoint): void {
  const [key, value] = element
  if (typeof key === 'string') readThrough(key, at.run)
  if (!(object instanceof LuaTable)) {
    throw errorAt(at.line, `attempt to index a ${typeOf(object)} value${withKey(key)}`)
  }
  object.set(key, value, at.run)
}

function withKey(key: LuaValue): string {
  return typeof key === 'string' ? ` (looking for '${key.slice(0, 64)}')` : ''
}

export function callValue(
  callee: LuaValue,
  args: readonly LuaValue[],
  { run, line }: LuaPoint,
): readonly LuaValue[] {
  if (!(callee instanceof LuaFunction)) {
    throw errorAt(line, `attempt to call a ${typeOf(callee)} value`)
  }
  run.line = line
  run.enter()
  run.step(args.length >> 2)
  const results = callee.body(args, run)
  run.leave()
  return results
}
