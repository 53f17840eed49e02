import { apiBounds } from './limits-table.ts'

/**
 * The format of a resource.Quantity: a fixed-point number with nine decimal places, exact in
 * bigint. A text that is already nearly canonical is kept as written, as upstream does, so that
 * bytes round-trip.
 */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

export interface Quantity {
  /** The value times 10^9. */
  readonly nanos: bigint
  readonly format: QuantityFormat
  /** The text that formatQuantity returns, if the original was good enough to keep. */
  readonly text?: string
}

/** Reports that the text is not a quantity. The message is upstream's, for clients that show it. */
export class QuantityError extends RangeError {
  override name = 'QuantityError'
}

const one = 1_000_000_000n
const binaryMax = (2n ** 63n - 1n) * one
const { exponentMax, textLengthMax } = apiBounds.quantity

/** The powers of ten that suffixes stand for. */
export const decimalExponents: Readonly<Record<string, number>> = Object.freeze({
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
})
/** The powers of two that suffixes stand for. */
export const binaryExponents: Readonly<Record<string, number>> = Object.freeze({
  Ki: 10,
  Mi: 20,
  Gi: 30,
  Ti: 40,
  Pi: 50,
  Ei: 60,
})
/** In steps of 1000 and 1024. */
const decimalSuffixes = Object.keys(decimalExponents)
const binarySuffixes = ['', ...Object.keys(binaryExponents)]

interface Parts {
  isNegative: boolean
  /** The digits without leading zeros, at least one. */
  whole: string
  fraction: string
  suffix: string
}

/** Throws QuantityError. */
export function parseQuantity(text: string): Quantity {
  const parts = splitQuantity(text)
  const { exponent, format } = suffixOf(parts.suffix)
  const digits = BigInt(parts.whole + parts.fraction)
  const sign = parts.isNegative ? -1n : 1n
  const kept = isKept(parts, digits, { exponent, format }) ? { text } : {}
  if (format === 'BinarySI') {
    const scale = 10n ** BigInt(parts.fraction.length)
    const nanos = divideUp(digits * 2n ** BigInt(exponent) * one, scale)
    const capped = nanos > binaryMax ? binaryMax : nanos
    const isFraction = capped > 0n && capped < one
    return { nanos: sign * capped, format: isFraction ? 'DecimalSI' : format, ...kept }
  }
  const shift = exponent - parts.fraction.length + 9
  const nanos = shift >= 0 ? digits * 10n ** BigInt(shift) : divideUp(digits, 10n ** BigInt(-shift))
  return { nanos: sign * nanos, format, ...kept }
}

/** Formats a quantity canonically: no fraction, and the largest suffix that loses nothing. */
export function formatQuantity(quantity: Quantity): string {
  const { nanos } = quantity
  if (quantity.text !== undefined) return quantity.text
  if (nanos === 0n) return '0'
  const isSmall = nanos > -1024n * one && nanos < 1024n * one
  if (quantity.format === 'BinarySI' && !isSmall && nanos % one === 0n) return formatBinary(nanos)
  return formatDecimal(nanos, quantity.format === 'DecimalExponent')
}

/** Returns the text that upstream would send back for this text. Throws QuantityError. */
export function canonicalQuantity(text: string): string {
  return formatQuantity(parseQuantity(text))
}

/** Keeps the format of the first quantity, unless that is zero. */
export function addQuantities(first: Quantity, second: Quantity): Quantity {
  const format = first.nanos === 0n ? second.format : first.format
  return { nanos: first.nanos + second.nanos, format }
}

export function subtractQuantities(first: Quantity, second: Quantity): Quantity {
  const format = first.nanos === 0n ? second.format : first.format
  return { nanos: first.nanos - second.nanos, format }
}

export function compareQuantities(first: Quantity, second: Quantity): -1 | 0 | 1 {
  if (first.nanos === second.nanos) return 0
  return first.nanos < second.nanos ? -1 : 1
}

/** Creates a quantity from a whole number of units. */
export function quantityOf(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
  return { nanos: BigInt(value) * one, format }
}

/** Creates a quantity from thousandths, as CPU is counted. */
export function quantityOfMilli(
  milli: number | bigint,
  format: QuantityFormat = 'DecimalSI',
): Quantity {
  return { nanos: BigInt(milli) * 1_000_000n, format }
}

/**
 * Returns thousandths, rounded away from zero. Above 2^53 it is the nearest number. Throws
 * QuantityError for a bad text.
 */
export function quantityToMilli(quantity: Quantity | string): number {
  return scaled(quantity, 1_000_000n)
}

/** Returns whole units (bytes, pods, …), rounded away from zero. Above 2^53 it is the nearest number. */
export function quantityToNumber(quantity: Quantity | string): number {
  return scaled(quantity, one)
}

/** Returns the nearest floating-point number, fractions included. */
export function quantityToFloat(quantity: Quantity | string): number {
  const { nanos } = typeof quantity === 'string' ? parseQuantity(quantity) : quantity
  return Number(nanos / one) + Number(nanos % one) / 1e9
}

const wrongFormat =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

function splitQuantity(text: string): Parts {
  if (text === '' || text.length > textLengthMax) throw new QuantityError(wrongFormat)
  // Upstream's scanner reads a missing number as zero ("Mi", "-"), so every part is optional.
  const match = /^([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/.exec(text)
  if (!match) throw new QuantityError(wrongFormat)
  return {
    isNegative: match[1] === '-',
    whole: match[2] || '0',
    fraction: match[3] ?? '',
    suffix: match[4] ?? '',
  }
}

function suffixOf(suffix: string): { exponent: number; format: QuantityFormat } {
  const decimal = decimalExponents[suffix]
  if (decimal !== undefined) return { exponent: decimal, format: 'DecimalSI' }
  const binary = binaryExponents[suffix]
  if (binary !== undefined) return { exponent: binary, format: 'BinarySI' }
  const exponent = /^[eE]([-+]?[0-9]+)$/.exec(suffix)?.[1]
  if (exponent === undefined || Math.abs(Number(exponent)) > exponentMax) {
    throw new QuantityError("unable to parse quantity's suffix")
  }
  return { exponent: Number(exponent), format: 'DecimalExponent' }
}

/**
 * Upstream keeps a text that its fast path considers canonical, though it may not be ("1.500",
 * "+1"). A client's text then comes back unchanged, and managers do not fight over it.
 */
function isKept(
  parts: Parts,
  digits: bigint,
  suffix: { exponent: number; format: QuantityFormat },
): boolean {
  const length = parts.whole.length + parts.fraction.length
  if (suffix.format === 'BinarySI') {
    const precision = 15 - parts.whole.length - Math.floor((suffix.exponent * 3) / 10) - 1
    return parts.fraction === '' && precision >= 0 && (digits & 7n) !== 0n
  }
  const scale = suffix.exponent - parts.fraction.length
  const shifted = parts.whole + parts.fraction
  const isExact = length <= 18 && scale >= -9 && scale % 3 === 0
  return isExact && !shifted.endsWith('000') && !shifted.startsWith('0')
}

function formatBinary(nanos: bigint): string {
  let value = nanos / one
  let steps = 0
  while (value % 1024n === 0n) {
    value /= 1024n
    steps += 1
  }
  return `${value}${binarySuffixes[steps] ?? ''}`
}

function formatDecimal(nanos: bigint, isExponent: boolean): string {
  let value = nanos
  let exponent = -9
  const exponentLimit = isExponent ? exponentMax : 18
  while (value % 1000n === 0n && exponent < exponentLimit) {
    value /= 1000n
    exponent += 3
  }
  if (isExponent) return exponent === 0 ? `${value}` : `${value}e${exponent}`
  return `${value}${decimalSuffixes[exponent / 3 + 3] ?? ''}`
}

function scaled(quantity: Quantity | string, unit: bigint): number {
  const { nanos } = typeof quantity === 'string' ? parseQuantity(quantity) : quantity
  return Number(nanos < 0n ? -divideUp(-nanos, unit) : divideUp(nanos, unit))
}

/** Divides a non-negative number and rounds up, because small requests must not become nothing. */
function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}
