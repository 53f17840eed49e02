import { CelRuntimeError } from '../language/cel-errors.ts'
import { celTypes, listType, mapType, typeParameter, type CelType } from '../language/cel-type.ts'
import {
  CelDuration,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from '../language/cel-value.ts'
import { textSizeEstimate } from '../estimate/standard-estimates.ts'
import { traversalCost } from '../evaluate/plan.ts'
import type { FunctionDeclaration, Overload } from '../check/library.ts'
import { isNumber, noSuchOverload, sizeOf, typeNameOf } from '../values/kinds.ts'
import {
  checkTimestamp,
  durationText,
  floorDivide,
  parseDuration,
  parseTimestamp,
  timestampText,
} from '../values/time-text.ts'
import { declare, member, plain } from './declare.ts'

const { bool, int, uint, double, string, bytes, timestamp, duration, dyn } = celTypes
const a = typeParameter('A')
const b = typeParameter('B')

type Convert = (value: CelValue) => CelValue

function conversion(
  name: string,
  { gives, from, act }: { gives: CelType; from: Readonly<Record<string, CelType>>; act: Convert },
): FunctionDeclaration {
  const overloads = Object.entries(from).map(([id, type]): Overload => {
    const call = (value: CelValue = null): CelValue => act(value)
    const isText = id === 'string_to_bytes' || id === 'bytes_to_string'
    const factor = id === 'string_to_bytes' ? { max: 4, min: 1 } : { max: 1, min: 0.25 }
    const extra = isText
      ? {
          cost: (args: readonly CelValue[]) => traversalCost(...args),
          estimate: textSizeEstimate(factor),
        }
      : {}
    return plain({ id, takes: [type], gives }, call, extra)
  })
  return declare(name, ...overloads)
}

export const conversionFunctions: readonly FunctionDeclaration[] = [
  conversion('int', {
    gives: int,
    from: {
      int64_to_int64: int,
      double_to_int64: double,
      duration_to_int64: duration,
      string_to_int64: string,
      timestamp_to_int64: timestamp,
      uint64_to_int64: uint,
    },
    act: toInt,
  }),
  conversion('uint', {
    gives: uint,
    from: {
      uint64_to_uint64: uint,
      double_to_uint64: double,
      int64_to_uint64: int,
      string_to_uint64: string,
    },
    act: toUint,
  }),
  conversion('double', {
    gives: double,
    from: {
      double_to_double: double,
      int64_to_double: int,
      string_to_double: string,
      uint64_to_double: uint,
    },
    act: toDouble,
  }),
  conversion('bool', {
    gives: bool,
    from: { bool_to_bool: bool, string_to_bool: string },
    act: toBool,
  }),
  conversion('string', {
    gives: string,
    from: {
      string_to_string: string,
      bool_to_string: bool,
      bytes_to_string: bytes,
      double_to_string: double,
      duration_to_string: duration,
      int64_to_string: int,
      timestamp_to_string: timestamp,
      uint64_to_string: uint,
    },
    act: toText,
  }),
  conversion('bytes', {
    gives: bytes,
    from: { bytes_to_bytes: bytes, string_to_bytes: string },
    act: (value) => (typeof value === 'string' ? new TextEncoder().encode(value) : value),
  }),
  conversion('duration', {
    gives: duration,
    from: { duration_to_duration: duration, string_to_duration: string, int64_to_duration: int },
    act: toDuration,
  }),
  conversion('timestamp', {
    gives: timestamp,
    from: {
      timestamp_to_timestamp: timestamp,
      string_to_timestamp: string,
      int64_to_timestamp: int,
    },
    act: toTimestamp,
  }),
  conversion('dyn', { gives: dyn, from: { to_dyn: a }, act: (value) => value }),
  conversion('type', {
    gives: { kind: 'type', of: a },
    from: { type: a },
    act: (value) => new CelTypeValue(typeNameOf(value)),
  }),
  declare(
    'size',
    ...[
      { name: 'string', type: string },
      { name: 'bytes', type: bytes },
      { name: 'list', type: listType(a) },
      { name: 'map', type: mapType(a, b) },
    ].flatMap(({ name, type }) => [
      plain({ id: `size_${name}`, takes: [type], gives: int }, measured),
      member({ id: `${name}_size`, takes: [type], gives: int }, measured),
    ]),
  ),
]

function measured(value: CelValue = null): bigint {
  return BigInt(sizeOf(value))
}

function toInt(value: CelValue): CelValue {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') {
    if (!(value > -(2 ** 63) && value < 2 ** 63)) throw new CelRuntimeError('integer overflow')
    return BigInt(Math.trunc(value))
  }
  if (value instanceof CelUint) {
    if (value.value >= 1n << 63n) throw new CelRuntimeError('integer overflow')
    return value.value
  }
  if (value instanceof CelTimestamp) return floorDivide(value.nanos, 1_000_000_000n)
  if (value instanceof CelDuration) return value.nanos
  if (typeof value !== 'string') throw noSuchOverload()
  const parsed = /^[+-]?\d+$/.test(value) ? BigInt(value.replace('+', '')) : undefined
  if (parsed === undefined) throw conversionError('int')
  if (BigInt.asIntN(64, parsed) !== parsed) throw conversionError('int')
  return parsed
}

/** Reports that the text does not represent a value of the type. */
function conversionError(to: string): CelRuntimeError {
  return new CelRuntimeError(`type conversion error from 'string' to '${to}'`)
}

function toUint(value: CelValue): CelValue {
  if (value instanceof CelUint) return value
  if (typeof value === 'bigint') {
    if (value < 0n) throw new CelRuntimeError('unsigned integer overflow')
    return new CelUint(value)
  }
  if (typeof value === 'number') {
    if (!(value >= 0 && value < 2 ** 64)) throw new CelRuntimeError('unsigned integer overflow')
    return new CelUint(BigInt(Math.trunc(value)))
  }
  if (typeof value !== 'string') throw noSuchOverload()
  if (!/^\d+$/.test(value)) throw conversionError('uint')
  if (BigInt(value) >= 1n << 64n) throw conversionError('uint')
  return new CelUint(BigInt(value))
}

function toDouble(value: CelValue): CelValue {
  if (isNumber(value)) return Number(value instanceof CelUint ? value.value : value)
  if (typeof value !== 'string') throw noSuchOverload()
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(value)
  if (special) {
    if (special[2]?.toLowerCase() === 'nan') return Number.NaN
    return special[1] === '-' ? -Infinity : Infinity
  }
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value) : undefined
  if (number === undefined) throw conversionError('double')
  return number
}

function toBool(value: CelValue): CelValue {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') throw noSuchOverload()
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value)) return true
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(value)) return false
  throw conversionError('bool')
}

export function toText(value: CelValue): string {
  if (typeof value === 'string') return value
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return doubleText(value)
  if (value instanceof CelUint) return String(value.value)
  if (value instanceof CelTimestamp) return timestampText(value.nanos)
  if (value instanceof CelDuration) return durationText(value.nanos)
  if (value instanceof Uint8Array) {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      throw new CelRuntimeError('invalid UTF-8 in bytes, cannot convert to string')
    }
  }
  throw noSuchOverload()
}

/** Formats like Go's `%g` with the shortest digits: with an exponent below -4 and from 21 on. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Object.is(value, -0)) return '-0'
  const size = Math.abs(value)
  if (value === 0 || (size >= 1e-4 && size < 1e21)) return String(value)
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}

function toDuration(value: CelValue): CelValue {
  if (value instanceof CelDuration) return value
  if (typeof value === 'bigint') return new CelDuration(value)
  if (typeof value === 'string') {
    return new CelDuration(parsed(value, parseDuration, 'google.protobuf.Duration'))
  }
  throw noSuchOverload()
}

function toTimestamp(value: CelValue): CelValue {
  if (value instanceof CelTimestamp) return value
  if (typeof value === 'bigint') return new CelTimestamp(checkTimestamp(value * 1_000_000_000n))
  if (typeof value === 'string') {
    return new CelTimestamp(parsed(value, parseTimestamp, 'google.protobuf.Timestamp'))
  }
  throw noSuchOverload()
}

function parsed(text: string, parse: (text: string) => bigint, to: string): bigint {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof CelRuntimeError) throw conversionError(to)
    throw error
  }
}
