import { CelRuntimeError } from '../language/cel-errors.ts'
import {
  CelDuration,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelList,
  type CelValue,
} from '../language/cel-value.ts'
import { isList, isMap, isNumber, itemsOf, typeNameOf } from '../values/kinds.ts'
import { doubleText, toText } from './conversions.ts'

/** Implements `'%s has %d'.format([a, b])`. Throws CelRuntimeError. */
export function formatText(pattern: string, args: CelList): string {
  let next = 0
  let made = ''
  let end = 0
  for (const found of pattern.matchAll(/%(?:(%)|(?:\.(\d+))?([a-zA-Z])|)/g)) {
    made += pattern.slice(end, found.index)
    end = found.index + found[0].length
    if (found[1] !== undefined) {
      made += '%'
      continue
    }
    const clause = found[3] ?? ''
    const act = clauses[clause]
    if (!act)
      throw new CelRuntimeError(
        `could not parse formatting clause: unrecognized formatting clause "${clause}"`,
      )
    if (next >= args.size) throw new CelRuntimeError(`index ${next} out of range`)
    made += act(args.at(next), found[2] === undefined ? 6 : Number(found[2]))
    next += 1
  }
  return made + pattern.slice(end)
}

type Clause = (value: CelValue, precision: number) => string

const clauses: Readonly<Record<string, Clause>> = Object.freeze({
  s: (value) => shown(value),
  d: (value) => whole(value, 'decimal', 10),
  x: (value) => hex(value),
  X: (value) => hex(value).toUpperCase(),
  o: (value) => whole(value, 'octal', 8),
  b: (value) => (typeof value === 'boolean' ? (value ? '1' : '0') : whole(value, 'binary', 2)),
  f: (value, precision) => fraction(value, 'fixed-point', (number) => fixedText(number, precision)),
  e: (value, precision) =>
    fraction(value, 'scientific notation', (number) =>
      number.toExponential(Math.min(precision, 100)).replace(/e([+-])(\d)$/, 'e$10$2'),
    ),
})

/** Halves are rounded to the even neighbour, as in Go. */
function fixedText(value: number, precision: number): string {
  const scaled = Math.abs(value) * 10 ** precision
  const isTie = scaled % 1 === 0.5 && Math.floor(scaled) % 2 === 0
  const rounded = isTie ? (Math.sign(value) * Math.floor(scaled)) / 10 ** precision : value
  return rounded.toFixed(Math.min(precision, 100))
}

function wrong(clause: string, what: string, value: CelValue): CelRuntimeError {
  return new CelRuntimeError(
    `error during formatting: ${clause} clause can only be used on ${what}, was given ${typeNameOf(value)}`,
  )
}

function whole(value: CelValue, clause: string, radix: number): string {
  if (typeof value === 'bigint') return value.toString(radix)
  if (value instanceof CelUint) return value.value.toString(radix)
  if (typeof value === 'number' && radix === 10 && !Number.isFinite(value)) return special(value)
  throw wrong(clause, 'integers', value)
}

function hex(value: CelValue): string {
  if (typeof value === 'string') return new TextEncoder().encode(value).toHex()
  if (value instanceof Uint8Array) return value.toHex()
  if (typeof value === 'bigint' || value instanceof CelUint) return whole(value, 'hex', 16)
  throw wrong('hex', 'integers, byte buffers, and strings', value)
}

function special(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  return value > 0 ? 'Infinity' : '-Infinity'
}

function fraction(value: CelValue, clause: string, print: (number: number) => string): string {
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return value
  if (!isNumber(value)) throw wrong(clause, 'doubles', value)
  const number = Number(value instanceof CelUint ? value.value : value)
  return Number.isFinite(number) ? print(number) : special(number)
}

function shown(value: CelValue): string {
  if (value === null) return 'null'
  if (typeof value === 'number') return Number.isFinite(value) ? doubleText(value) : special(value)
  if (value instanceof CelTypeValue) return value.name
  if (isList(value)) return `[${[...itemsOf(value)].map(shown).join(', ')}]`
  if (isMap(value)) {
    const entries = [...value.keys()].map(
      (key) => `${shown(key)}: ${shown(value.get(key) ?? null)}`,
    )
    return `{${entries.toSorted().join(', ')}}`
  }
  const isPlain =
    typeof value !== 'object' ||
    value instanceof Uint8Array ||
    value instanceof CelUint ||
    value instanceof CelTimestamp ||
    value instanceof CelDuration
  if (isPlain) return toText(value)
  throw wrong(
    'string',
    'strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    value,
  )
}
