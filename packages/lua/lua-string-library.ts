import type { LuaArguments, LuaLibraryFunction } from './lua-arguments.ts'
import { formatLua } from './lua-format.ts'
import { findPattern, type LuaMatch } from './lua-pattern.ts'
import { LuaTable } from './lua-table.ts'
import { LuaFunction, textOf, typeOf, type LuaValue } from './lua-value.ts'
import { elementBytes, luaBounds } from './limits-table.ts'

const { byteResultsMax } = luaBounds.luaStringLibrary

/** Positions count from 1, and from -1 at the end. Characters are bytes, and letters those of ASCII. */
export const stringFunctions: Readonly<Record<string, LuaLibraryFunction>> = Object.freeze({
  byte(args: LuaArguments) {
    const from = args.whole(1, 1)
    const text = sliceOf(args.text(0), from, args.whole(2, from))
    if (text.length > byteResultsMax) throw args.run.error('string slice too long')
    args.run.step(text.length)
    return Array.from(text, (char) => char.charCodeAt(0))
  },
  char(args: LuaArguments) {
    args.run.step(args.count)
    args.run.spend(args.count)
    return args.values
      .map((_, index) => String.fromCharCode(((args.whole(index) % 256) + 256) % 256))
      .join('')
  },
  find,
  format: formatLua,
  gmatch,
  gsub,
  len: (args: LuaArguments) => args.text(0).length,
  lower: (args: LuaArguments) => cased(args, /[A-Z]+/g, (letters) => letters.toLowerCase()),
  match(args: LuaArguments) {
    const found = search(args)
    return found === undefined ? undefined : found.captures
  },
  rep(args: LuaArguments) {
    const text = args.text(0)
    const count = Math.max(0, args.whole(1))
    args.run.copy(text.length * count)
    args.run.spend(text.length * count)
    return text.repeat(count)
  },
  reverse(args: LuaArguments) {
    const text = args.text(0)
    args.run.step(text.length)
    return made(args, text.split('').toReversed().join(''))
  },
  sub: (args: LuaArguments) => made(args, sliceOf(args.text(0), args.whole(1), args.whole(2, -1))),
  upper: (args: LuaArguments) => cased(args, /[a-z]+/g, (letters) => letters.toUpperCase()),
})

/** Letters may be isolated, and then each is a call. */
function cased(args: LuaArguments, letters: RegExp, by: (letters: string) => string): string {
  const text = args.text(0)
  args.run.step(text.length)
  args.run.spend(text.length)
  return text.replaceAll(letters, by)
}

function made(args: LuaArguments, text: string): string {
  args.run.copy(text.length)
  args.run.spend(text.length)
  return text
}

function sliceOf(text: string, from: number, to: number): string {
  const start = from < 0 ? Math.max(0, text.length + from) : Math.max(0, from - 1)
  const end = to < 0 ? text.length + to + 1 : to
  return end > start ? text.slice(start, end) : ''
}

function startOf(args: LuaArguments, text: string): number {
  const from = args.whole(2, 1)
  return from < 0 ? Math.max(0, text.length + from) : Math.max(0, from - 1)
}

function search(args: LuaArguments): LuaMatch | undefined {
  const [text, pattern] = [args.text(0), args.text(1)]
  return findPattern({ text, pattern }, startOf(args, text), args.run)
}

function find(args: LuaArguments): LuaValue | readonly LuaValue[] {
  const [text, pattern] = [args.text(0), args.text(1)]
  const isPlain = args.values[3] !== undefined && args.values[3] !== false
  args.run.match(pattern.length)
  if (isPlain || !/[\^$*+?.([%-]/.test(pattern)) {
    args.run.step(Math.ceil((text.length * (pattern.length + 1)) / 64))
    const start = startOf(args, text)
    const at = start > text.length ? -1 : text.indexOf(pattern, start)
    return at === -1 ? undefined : [at + 1, at + pattern.length]
  }
  const found = search(args)
  if (found === undefined) return undefined
  args.run.step(pattern.length)
  const hasCaptures = pattern.replaceAll(/%./gs, '').includes('(')
  return [found.start + 1, found.end, ...(hasCaptures ? found.captures : [])]
}

function gmatch(args: LuaArguments): LuaFunction {
  const [text, pattern] = [args.text(0), args.text(1)]
  let at = 0
  return new LuaFunction('gmatch', (_, run) => {
    const found = at > text.length ? undefined : findPattern({ text, pattern }, at, run)
    if (found === undefined) {
      at = text.length + 1
      return []
    }
    at = found.end === found.start ? found.end + 1 : found.end
    return found.captures
  })
}

function gsub(args: LuaArguments): readonly LuaValue[] {
  const { run } = args
  const [text, pattern] = [args.text(0), args.text(1)]
  const most = args.whole(3, Number.MAX_SAFE_INTEGER)
  const pieces: string[] = []
  let [at, count] = [0, 0]
  while (count < most && at <= text.length) {
    const found = findPattern({ text, pattern }, at, run)
    if (found === undefined) break
    count += 1
    const whole = text.slice(found.start, found.end)
    const isEmpty = found.end === found.start
    const after = isEmpty ? text.slice(found.end, found.end + 1) : ''
    const [kept, by] = [text.slice(at, found.start), replacementOf(args, found, whole)]
    run.copy(kept.length + by.length)
    run.spend(kept.length + by.length + after.length + elementBytes)
    pieces.push(kept, by, after)
    at = found.end + (isEmpty ? 1 : 0)
    if (pattern.startsWith('^')) break
  }
  pieces.push(text.slice(at))
  return [made(args, pieces.join('')), count]
}

/**
 * Replaces by a text, by a table's value for the first capture, or by a function; nil and false
 * keep the original.
 */
function replacementOf(args: LuaArguments, { captures }: LuaMatch, whole: string): string {
  const { run } = args
  const by = args.values[2]
  if (!(by instanceof LuaTable) && !(by instanceof LuaFunction)) {
    const template = args.text(2)
    // Each character may be a call.
    run.step(template.length)
    return template.replaceAll(/%(.)/gs, (_, char: string) => {
      if (char === '0') return whole
      if (!/[1-9]/.test(char)) return char
      if (Number(char) > captures.length) throw run.error('invalid capture index')
      return textOf(captures[Number(char) - 1])
    })
  }
  const value = by instanceof LuaTable ? by.get(captures[0]) : called(by, captures, args)
  if (value === undefined || value === false) return whole
  if (typeof value === 'string' || typeof value === 'number') return textOf(value)
  throw run.error(`invalid replacement value (a ${typeOf(value)})`)
}

function called(by: LuaFunction, captures: readonly LuaValue[], { run }: LuaArguments): LuaValue {
  run.enter()
  const [value] = by.body(captures, run)
  run.leave()
  return value
}
