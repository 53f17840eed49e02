import { fieldInvalid } from '@skerry/api'
import { checkNonNegative, type Found } from './checks.ts'

export type IntOrPercent = number | string

const percentText =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"

export function checkIntOrPercent(
  value: IntOrPercent | undefined,
  field: string,
  found: Found,
): void {
  if (typeof value === 'string') {
    if (!/^[0-9]+%$/.test(value)) found.push(fieldInvalid(field, value, percentText))
  } else {
    checkNonNegative(value, field, found)
  }
}

export function checkAtMostAll(value: IntOrPercent | undefined, field: string, found: Found): void {
  if (typeof value !== 'string' || !/^[0-9]+%$/.test(value)) return
  if (Number(value.slice(0, -1)) <= 100) return
  found.push(fieldInvalid(field, value, 'must not be greater than 100%'))
}

/** Checks the number before a percent sign, or the number itself; anything else counts as zero. */
export function isZero(value: IntOrPercent | undefined): boolean {
  if (typeof value !== 'string') return (value ?? 0) === 0
  return Number.parseInt(value, 10) === 0 || !/^[0-9]+%?$/.test(value)
}
