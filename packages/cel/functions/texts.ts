import { RE2JS } from 're2js'
import { CelCostError, CelRuntimeError } from '../language/cel-errors.ts'
import { celTypes, listType } from '../language/cel-type.ts'
import type { CelValue } from '../language/cel-value.ts'
import {
  containsEstimate,
  copying,
  elementsEstimate,
  findingEstimate,
  joinEstimate,
  patternEstimate,
  replaceEstimate,
  splitEstimate,
  traversing,
} from '../estimate/standard-estimates.ts'
import { traversalCost } from '../evaluate/plan.ts'
import type { CelLibrary, FunctionDeclaration } from '../check/library.ts'
import { isList, itemsOf, listOf, noSuchOverload, sizeOf } from '../values/kinds.ts'
import { declare, member, plain } from './declare.ts'
import { formatText } from './format-text.ts'
import { celBounds } from '../limits-table.ts'

const { bool, int, string, dyn } = celTypes
const strings = listType(string)

const textLimits = celBounds.texts

const first = ([text = null]: readonly CelValue[]): number => traversalCost(text)
const twice = ([text = null]: readonly CelValue[]): number => Math.ceil(sizeOf(text) * 0.2)

function patternCost([text = null, pattern = null]: readonly CelValue[]): number {
  return Math.ceil((1 + sizeOf(text)) * 0.1) * Math.ceil(sizeOf(pattern) * 0.25)
}

function text(value: CelValue | undefined): string {
  if (typeof value !== 'string') throw noSuchOverload()
  return value
}

function index(value: CelValue | undefined): number {
  if (typeof value !== 'bigint') throw noSuchOverload()
  return Number(value)
}

type TextTest = (value: string, other: string) => boolean
const tests: readonly (readonly [string, string, TextTest])[] = [
  ['startsWith', 'starts_with_string', (value, other) => value.startsWith(other)],
  ['endsWith', 'ends_with_string', (value, other) => value.endsWith(other)],
]

/** Text functions that are part of the language itself. */
export const textFunctions: readonly FunctionDeclaration[] = [
  ...tests.map(([name, id, act]) =>
    declare(
      name,
      member(
        { id, takes: [string, string], gives: bool },
        (value, other) => act(text(value), text(other)),
        {
          cost: first,
          estimate: traversing(1),
        },
      ),
    ),
  ),
  declare(
    'contains',
    member(
      { id: 'contains_string', takes: [string, string], gives: bool },
      (value, other) => text(value).includes(text(other)),
      {
        cost: ([value = null, other = null]) => traversalCost(value) * traversalCost(other),
        estimate: containsEstimate,
      },
    ),
  ),
  declare(
    'matches',
    plain({ id: 'matches', takes: [string, string], gives: bool }, matches),
    member({ id: 'matches_string', takes: [string, string], gives: bool }, matches, {
      cost: patternCost,
      estimate: patternEstimate,
    }),
  ),
]

const patterns = new Map<string, RE2JS>()

/** Runs in linear time. Throws CelRuntimeError if the text is not a valid pattern. */
export function patternOf(source: string): RE2JS {
  const known = patterns.get(source)
  if (known) return known
  try {
    const made = RE2JS.compile(source)
    if (patterns.size >= textLimits.patternsCachedMax) patterns.clear()
    patterns.set(source, made)
    return made
  } catch (error) {
    if (error instanceof Error) throw new CelRuntimeError(error.message)
    throw error
  }
}

function matches(value: CelValue = null, pattern: CelValue = null): boolean {
  return patternOf(text(pattern)).matcher(text(value)).find()
}

function find(value: CelValue = null, pattern: CelValue = null): string {
  const matcher = patternOf(text(pattern)).matcher(text(value))
  return matcher.find() ? (matcher.group() ?? '') : ''
}

function findAll(
  value: CelValue = null,
  pattern: CelValue = null,
  limit: CelValue = -1n,
): CelValue {
  const matcher = patternOf(text(pattern)).matcher(text(value))
  const most = index(limit)
  const found: CelValue[] = []
  while ((most < 0 || found.length < most) && matcher.find()) found.push(matcher.group() ?? '')
  return listOf(found)
}

const searching = { cost: patternCost, estimate: findingEstimate, isCostByName: true }

/** Adds find() and findAll(). */
export const regexLibrary: CelLibrary = {
  name: 'regex',
  functions: [
    declare(
      'find',
      member({ id: 'string_find_string', takes: [string, string], gives: string }, find, searching),
    ),
    declare(
      'findAll',
      member(
        { id: 'string_find_all_string', takes: [string, string], gives: strings },
        findAll,
        searching,
      ),
      member(
        { id: 'string_find_all_string_int', takes: [string, string, int], gives: strings },
        findAll,
        searching,
      ),
    ),
  ],
}

const readOnce = { cost: first, estimate: copying(0), isCostByName: true }
const seeking = { cost: first, estimate: elementsEstimate, isCostByName: true }
const replacing = { cost: twice, estimate: replaceEstimate, isCostByName: true }
const splitting = { cost: twice, estimate: splitEstimate, isCostByName: true }
const joining = {
  cost: (_: readonly CelValue[], result: CelValue): number => Math.ceil(sizeOf(result) * 0.2),
  estimate: joinEstimate,
  isCostByName: true,
}

/** Adds cel-go's extension for text, version 2. Positions count code points. */
export const stringLibrary: CelLibrary = {
  name: 'strings',
  functions: [
    declare(
      'charAt',
      member({ id: 'string_char_at_int', takes: [string, int], gives: string }, charAt),
    ),
    ...(['indexOf', 'lastIndexOf'] as const).map((name) => {
      const id = name === 'indexOf' ? 'string_index_of_string' : 'string_last_index_of_string'
      const act = name === 'indexOf' ? indexOf : lastIndexOf
      return declare(
        name,
        member({ id, takes: [string, string], gives: int }, act, seeking),
        member({ id: `${id}_int`, takes: [string, string, int], gives: int }, act, seeking),
      )
    }),
    declare(
      'lowerAscii',
      member(
        { id: 'string_lower_ascii', takes: [string], gives: string },
        (value) => text(value).replaceAll(/[A-Z]+/g, (part) => part.toLowerCase()),
        readOnce,
      ),
    ),
    declare(
      'upperAscii',
      member(
        { id: 'string_upper_ascii', takes: [string], gives: string },
        (value) => text(value).replaceAll(/[a-z]+/g, (part) => part.toUpperCase()),
        readOnce,
      ),
    ),
    declare(
      'replace',
      member(
        { id: 'string_replace_string_string', takes: [string, string, string], gives: string },
        replace,
        replacing,
      ),
      member(
        {
          id: 'string_replace_string_string_int',
          takes: [string, string, string, int],
          gives: string,
        },
        replace,
        replacing,
      ),
    ),
    declare(
      'split',
      member(
        { id: 'string_split_string', takes: [string, string], gives: strings },
        split,
        splitting,
      ),
      member(
        { id: 'string_split_string_int', takes: [string, string, int], gives: strings },
        split,
        splitting,
      ),
    ),
    declare(
      'substring',
      member(
        { id: 'string_substring_int', takes: [string, int], gives: string },
        substring,
        readOnce,
      ),
      member(
        { id: 'string_substring_int_int', takes: [string, int, int], gives: string },
        substring,
        readOnce,
      ),
    ),
    declare(
      'trim',
      member(
        { id: 'string_trim', takes: [string], gives: string },
        (value) => trim(text(value)),
        readOnce,
      ),
    ),
    declare(
      'format',
      member(
        { id: 'string_format', takes: [string, listType(dyn)], gives: string },
        (value, args = null) => {
          if (!isList(args)) throw noSuchOverload()
          return bounded(formatText(text(value), args))
        },
        { cost: first, estimate: traversing(0) },
      ),
    ),
    declare(
      'strings.quote',
      plain(
        { id: 'strings_quote', takes: [string], gives: string },
        (value) => quote(text(value)),
        {
          cost: first,
          estimate: copying(0),
        },
      ),
    ),
    declare(
      'join',
      member({ id: 'list_join', takes: [strings], gives: string }, join, joining),
      member({ id: 'list_join_string', takes: [strings, string], gives: string }, join, joining),
    ),
  ],
}

function bounded(made: string): string {
  if (made.length > textLimits.resultLengthMax) throw new CelCostError()
  return made
}

function charAt(value?: CelValue, at?: CelValue): string {
  const characters = Array.from(text(value))
  const position = index(at)
  if (position === characters.length) return ''
  if (position < 0 || position > characters.length) throw outOfRange(position)
  return characters[position] ?? ''
}

function outOfRange(position: number): CelRuntimeError {
  return new CelRuntimeError(`index out of range: ${position}`)
}

function indexOf(value?: CelValue, other?: CelValue, from: CelValue = 0n): CelValue {
  const characters = Array.from(text(value))
  const start = index(from)
  const sought = text(other)
  if (sought === '') return BigInt(start)
  if (start < 0 || start > characters.length) throw outOfRange(start)
  const rest = characters.slice(start).join('')
  const found = rest.indexOf(sought)
  return found < 0 ? -1n : BigInt(start + Array.from(rest.slice(0, found)).length)
}

function lastIndexOf(value?: CelValue, other?: CelValue, from?: CelValue): CelValue {
  const characters = Array.from(text(value))
  const sought = text(other)
  if (sought === '') return from ?? BigInt(characters.length)
  const length = Array.from(sought).length
  const start = from === undefined ? characters.length : index(from)
  if (start < 0 || (from !== undefined && start > characters.length)) throw outOfRange(start)
  const within = characters.slice(0, start + length).join('')
  const found = within.lastIndexOf(sought)
  return found < 0 ? -1n : BigInt(Array.from(within.slice(0, found)).length)
}

function replace(value?: CelValue, old?: CelValue, next?: CelValue, limit: CelValue = -1n): string {
  const [source, sought, put] = [text(value), text(old), text(next)]
  const most = index(limit)
  const parts = sought === '' ? ['', ...Array.from(source), ''] : source.split(sought)
  const places = sought === '' ? Array.from(source).length + 1 : parts.length - 1
  const count = most < 0 ? places : Math.min(most, places)
  if (source.length + count * put.length > textLimits.resultLengthMax) throw new CelCostError()
  if (count === 0) return source
  if (sought === '') {
    return (
      Array.from(source)
        .map((character, at) => (at < count ? put + character : character))
        .join('') + (count > Array.from(source).length ? put : '')
    )
  }
  return [...parts.slice(0, count), parts.slice(count).join(sought)].join(put)
}

function split(value?: CelValue, separator?: CelValue, limit: CelValue = -1n): CelValue {
  const [source, between] = [text(value), text(separator)]
  const most = index(limit)
  if (most === 0) return listOf([])
  if (most === 1) return listOf([source])
  const parts = between === '' ? Array.from(source) : source.split(between)
  if (most < 0 || parts.length <= most) return listOf(parts)
  return listOf([...parts.slice(0, most - 1), parts.slice(most - 1).join(between)])
}

function substring(value?: CelValue, from?: CelValue, to?: CelValue): string {
  const characters = Array.from(text(value))
  const start = index(from)
  const end = to === undefined ? characters.length : index(to)
  if (to !== undefined && start > end) {
    throw new CelRuntimeError(`invalid substring range. start: ${start}, end: ${end}`)
  }
  if (start < 0 || start > characters.length) throw outOfRange(start)
  if (end < 0 || end > characters.length) throw outOfRange(end)
  return characters.slice(start, end).join('')
}

/** The characters that Go treats as space; the engine's `\\s` includes more. */
const space =
  '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+'
const outerSpace = new RegExp(`^${space}|${space}$`, 'gu')

function trim(value: string): string {
  return value.replaceAll(outerSpace, '')
}

function join(list: CelValue = null, separator: CelValue = ''): string {
  if (!isList(list)) throw noSuchOverload()
  return bounded([...itemsOf(list)].map(text).join(text(separator)))
}

const quoted: Readonly<Record<string, string>> = Object.freeze({
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
})

function quote(value: string): string {
  return `"${Array.from(value)
    .map((character) => quoted[character] ?? character)
    .join('')}"`
}
