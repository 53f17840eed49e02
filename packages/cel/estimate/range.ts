import type { Range } from '../check/library.ts'

/** The largest size and cost; larger ones are capped to this. */
export const unbounded = 2 ** 64

export const unknownSize: Range = Object.freeze({ min: 0, max: unbounded })

export function fixedRange(value: number): Range {
  return { min: value, max: value }
}

function cap(value: number): number {
  return Math.min(value, unbounded)
}

export function sum(...ranges: readonly Range[]): Range {
  return ranges.reduce(
    (a, b) => ({ min: cap(a.min + b.min), max: cap(a.max + b.max) }),
    fixedRange(0),
  )
}

export function product(a: Range, b: Range): Range {
  return { min: cap(times(a.min, b.min)), max: cap(times(a.max, b.max)) }
}

/** Rounded up. */
export function scaled(a: Range, factor: number): Range {
  return { min: cap(Math.ceil(times(a.min, factor))), max: cap(Math.ceil(times(a.max, factor))) }
}

export function union(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) }
}

function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b
}
