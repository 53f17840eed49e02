import type { LuaRun } from './lua-run.ts'
import type { LuaTable } from './lua-table.ts'
import { luaBounds } from './limits-table.ts'

/**
 * A value of Lua 5.1. Nil is undefined. A text is a string of bytes (each character below 256), as
 * in Lua; `toBytes` and `toText` convert.
 */
export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction

export type LuaBody = (args: readonly LuaValue[], run: LuaRun) => readonly LuaValue[]

export class LuaFunction {
  readonly name: string
  readonly body: LuaBody

  constructor(name: string, body: LuaBody) {
    this.name = name
    this.body = body
  }
}

/** Reports an error that a script raised, or an error in the script. Scripts may catch it. */
export class LuaError extends Error {
  override name = 'LuaError'
  /** The value that `pcall` returns to the script. */
  readonly value: LuaValue

  constructor(message: string, value: LuaValue = message) {
    super(message)
    this.value = value
  }
}

/** Reports that a script exceeded a limit. Scripts cannot catch it. */
export class LuaLimitError extends Error {
  override name = 'LuaLimitError'
}

export function typeOf(value: LuaValue): string {
  switch (typeof value) {
    case 'undefined':
      return 'nil'
    case 'boolean':
    case 'number':
    case 'string':
      return typeof value
    default:
      return value instanceof LuaFunction ? 'function' : 'table'
  }
}

/** Everything except nil and false is true. */
export function isTrue(value: LuaValue): boolean {
  return value !== undefined && value !== false
}

/** Formats a number as Karmada's Lua does: a whole number without a point, others as short as possible. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return BigInt(value).toString()
  const size = Math.abs(value)
  const text = size < 1e-4 || size >= 1e21 ? value.toExponential() : String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

/**
 * Each digit has one place in the pattern. With two, a text that does not match would be tried in
 * all ways.
 */
const numberPattern = /^[ \t\n\v\f\r]*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)[ \t\n\v\f\r]*$/i
const hexPattern = /^[ \t\n\v\f\r]*([+-]?)0x([0-9a-f]+)[ \t\n\v\f\r]*$/i

/** Returns the decimal number in a text, without surrounding space. Each character is examined once. */
export function decimalIn(text: string): string | undefined {
  return numberPattern.exec(text)?.[1]
}

const { numberCharsMax } = luaBounds.luaValue

/** Returns the number that a text or number represents, or undefined for anything else. */
export function numberOf(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.length > numberCharsMax) return undefined
  const decimal = decimalIn(value)
  if (decimal !== undefined) return Number(decimal)
  const hex = hexPattern.exec(value)
  if (hex?.[2] === undefined) return undefined
  const size = Number.parseInt(hex[2], 16)
  return hex[1] === '-' ? -size : size
}

/** Returns the text that `tostring` shows. */
export function textOf(value: LuaValue): string {
  switch (typeof value) {
    case 'undefined':
      return 'nil'
    case 'boolean':
      return String(value)
    case 'number':
      return numberText(value)
    case 'string':
      return value
    default:
      // There is no address, because a script's result must not depend on where its values are in
      // memory.
      return value instanceof LuaFunction ? `function: ${value.name}` : 'table'
  }
}

/** Encodes as UTF-8, one character per byte. */
export function toBytes(text: string): string {
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) > 127) return Buffer.from(text, 'utf8').toString('latin1')
  }
  return text
}

/** Decodes UTF-8. Invalid bytes become U+FFFD. */
export function toText(bytes: string): string {
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes.charCodeAt(at) > 127) return Buffer.from(bytes, 'latin1').toString('utf8')
  }
  return bytes
}
