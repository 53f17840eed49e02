import type { LuaArguments, LuaLibraryFunction } from './lua-arguments.ts'
import { LuaTable } from './lua-table.ts'
import {
  isTrue,
  LuaError,
  LuaFunction,
  numberOf,
  textOf,
  typeOf,
  type LuaValue,
} from './lua-value.ts'
import { luaBounds } from './limits-table.ts'

const { unpackMax, digitsMax } = luaBounds.luaBaseLibrary

export const baseFunctions: Readonly<Record<string, LuaLibraryFunction>> = Object.freeze({
  assert(args: LuaArguments) {
    if (isTrue(args.any(0))) return args.values
    throw args.run.error(args.values[1] === undefined ? 'assertion failed!' : args.text(1))
  },
  error: raise,
  ipairs(args: LuaArguments) {
    const table = args.table(0)
    const next = new LuaFunction('ipairs', ([, index]) => {
      const at = Number(index) + 1
      const value = table.get(at)
      return value === undefined ? [] : [at, value]
    })
    return [next, table, 0]
  },
  next(args: LuaArguments) {
    const table = args.table(0)
    const key = table.nextKey(args.values[1], args.run)
    return key === undefined ? [undefined] : [key, table.get(key)]
  },
  pairs(args: LuaArguments) {
    const table = args.table(0)
    const keys = table.keys(args.run)
    const next = new LuaFunction('pairs', () => {
      const { done, value: key } = keys.next()
      return done === true ? [] : [key, table.get(key)]
    })
    return [next, table]
  },
  pcall: (args: LuaArguments) => tried(args, 1, (value) => [value]),
  xpcall(args: LuaArguments) {
    const handler = args.function(1)
    return tried(args, 2, (value) => handler.body([value], args.run))
  },
  // Scripts cannot write to any output.
  print: () => [],
  select(args: LuaArguments) {
    if (args.values[0] === '#') return args.count - 1
    const from = args.whole(0)
    if (from === 0) throw args.error(0, 'index out of range')
    args.run.step(args.count >> 2)
    return args.values.slice(from < 0 ? Math.max(1, args.count + from) : from)
  },
  tonumber: toNumber,
  tostring: (args: LuaArguments) => textOf(args.any(0)),
  type: (args: LuaArguments) => typeOf(args.any(0)),
  unpack,
  ...refusals(),
})

/** These functions exist and refuse to run, as in Karmada. */
function refusals(): Record<string, LuaLibraryFunction> {
  const names = [
    'collectgarbage',
    'dofile',
    'getfenv',
    'getmetatable',
    'load',
    'loadfile',
    'loadstring',
    'rawequal',
    'rawget',
    'rawset',
    'setfenv',
    'setmetatable',
    'module',
    'newproxy',
  ]
  const refuse = (name: string) => (args: LuaArguments) => {
    throw args.run.error(`function ${name} is not available to scripts of interpreters`)
  }
  return Object.fromEntries(names.map((name) => [name, refuse(name)]))
}

/** Prefixes a text with the line that raises it, unless its level is 0. */
function raise(args: LuaArguments): never {
  const value = args.values[0]
  if (typeof value === 'string' && args.whole(1, 1) > 0) throw args.run.error(value)
  const shown = value instanceof LuaTable ? 'a table was raised as an error' : textOf(value)
  throw new LuaError(shown, value)
}

function tried(
  args: LuaArguments,
  skipped: number,
  onError: (value: LuaValue) => readonly LuaValue[],
): readonly LuaValue[] {
  const { run } = args
  const { depth } = run
  const called = args.values[0]
  try {
    if (!(called instanceof LuaFunction)) {
      throw run.error(`attempt to call a ${typeOf(called)} value`)
    }
    run.enter()
    const results = called.body(args.values.slice(skipped), run)
    run.leave()
    return [true, ...results]
  } catch (error) {
    // Other errors, such as limits, are not passed to the script.
    if (!(error instanceof LuaError)) throw error
    run.returnTo(depth)
    return [false, ...onError(error.value)]
  }
}

function toNumber(args: LuaArguments): LuaValue {
  const base = args.whole(1, 10)
  const value = args.any(0)
  if (typeof value === 'string') args.run.match(Math.min(value.length, digitsMax))
  if (base === 10) return numberOf(value)
  if (base < 2 || base > 36) throw args.error(1, 'base out of range')
  const given = args.text(0)
  if (given.length > digitsMax) return undefined
  const text = given.trim().toLowerCase()
  return isInBase(text, base) ? Number.parseInt(text, base) : undefined
}

/** Accepts digits and lower-case letters, at least one. Compares codes, because there may be thousands. */
function isInBase(text: string, base: number): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    const digit = code < 58 ? code - 48 : code - 87
    if (digit < 0 || digit >= base || (code >= 58 && code < 97)) return false
  }
  return text !== ''
}

export function unpack(args: LuaArguments): readonly LuaValue[] {
  const table = args.table(0)
  const from = args.whole(1, 1)
  const to = args.whole(2, table.length)
  if (to < from) return []
  if (to - from >= unpackMax) throw args.run.error('too many results to unpack')
  args.run.step(to - from + 1)
  return Array.from({ length: to - from + 1 }, (_, index) => table.get(from + index))
}
