import {
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  equalJson,
  byteLength,
  checkDnsLabel,
  checkDnsSubdomain,
  checkPortName,
  checkQualifiedName,
  type StatusCause,
} from '@skerry/api'
import { memberAsSent } from '@skerry/bodies'

/**
 * The small checks of which validation consists. Each takes a value, the path of its field, and the
 * list to which it adds errors, in upstream's words.
 */
export type Found = StatusCause[]

export const immutableText = 'field is immutable'
export const int32Max = 2_147_483_647

export function checkNotEmpty(text: string | undefined, field: string, found: Found): boolean {
  if (text) return true
  found.push(fieldRequired(field))
  return false
}

/** Adds one cause per text of a name check from names.ts. */
export function addInvalid(
  found: Found,
  field: string,
  value: unknown,
  texts: readonly string[],
): void {
  for (const text of texts) found.push(fieldInvalid(field, value, text))
}

export function checkLabelField(value: string, field: string, found: Found): void {
  addInvalid(found, field, value, checkDnsLabel(value))
}

export function checkSubdomainField(value: string, field: string, found: Found): void {
  addInvalid(found, field, value, checkDnsSubdomain(value))
}

export function checkQualifiedField(value: string, field: string, found: Found): void {
  addInvalid(found, field, value, checkQualifiedName(value))
}

/** An omitted number counts as zero, as it does for Go clients. */
export function checkNonNegative(value: number | undefined, field: string, found: Found): void {
  if (value !== undefined && value < 0) {
    found.push(fieldInvalid(field, value, 'must be greater than or equal to 0'))
  }
}

export function checkPositive(value: number | undefined, field: string, found: Found): void {
  if ((value ?? 0) <= 0) found.push(fieldInvalid(field, value ?? 0, 'must be greater than zero'))
}

/** Checks each of the named counters of an object. */
export function checkCounters<T extends object>(
  object: T,
  names: readonly (keyof T & string)[],
  path: string,
  found: Found,
): void {
  for (const name of names) {
    const value = object[name]
    if (typeof value === 'number') checkNonNegative(value, `${path}.${name}`, found)
  }
}

export function checkRange(
  value: number,
  range: { min: number; max: number },
  field: string,
  found: Found,
): void {
  if (value >= range.min && value <= range.max) return
  const detail = `must be between ${range.min} and ${range.max}, inclusive`
  found.push(fieldInvalid(field, value, detail))
}

export function checkPortNumber(value: number | undefined, field: string, found: Found): void {
  checkRange(value ?? 0, { min: 1, max: 65_535 }, field, found)
}

export function checkPort(value: number | string | undefined, field: string, found: Found): void {
  if (typeof value === 'string') addInvalid(found, field, value, checkPortName(value))
  else checkPortNumber(value, field, found)
}

/** Checks user and group ids. */
export function checkId(value: number | undefined, field: string, found: Found): void {
  if (value !== undefined) checkRange(value, { min: 0, max: int32Max }, field, found)
}

/** The value must be one of `supported`; upstream lists them in that order. */
export function checkOneOf(
  value: string | undefined,
  supported: readonly string[],
  field: string,
  found: Found,
): void {
  if (value !== undefined && !supported.includes(value)) {
    found.push(fieldNotSupported(field, value, supported))
  }
}

/** Does the same as checkOneOf for a required value. */
export function checkRequiredOneOf(
  value: string | undefined,
  supported: readonly string[],
  field: string,
  found: Found,
): void {
  if (value) checkOneOf(value, supported, field, found)
  else found.push(fieldRequired(field))
}

export function checkUnchanged(next: unknown, old: unknown, field: string, found: Found): void {
  if (!isSame(next, old)) found.push(fieldInvalid(field, next ?? null, immutableText))
}

/** Does the same as checkUnchanged for members that are lists or maps. */
export function checkMemberUnchanged<T extends object>(
  next: T,
  old: T,
  member: keyof T & string,
  found: Found,
): void {
  if (isSame(next[member], old[member])) return
  found.push(fieldInvalid(member, memberAsSent(next, member), immutableText))
}

/** Treats undefined, null and, for lists and maps, empty as equal. */
export function isSame(next: unknown, old: unknown): boolean {
  return equalJson(withoutEmpty(next), withoutEmpty(old))
}

function withoutEmpty(value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(withoutEmpty)
  if (typeof value !== 'object') return value
  const kept = Object.entries(value)
    .map(([key, item]): [string, unknown] => [key, withoutEmpty(item)])
    .filter(([, item]) => item !== null)
  return Object.fromEntries(kept)
}

export function checkNoParentSteps(path: string, field: string, found: Found): void {
  if (path.split('/').includes('..')) {
    found.push(fieldInvalid(field, path, "must not contain '..'"))
  }
}

export function checkRelativePath(path: string, field: string, found: Found): void {
  if (path.startsWith('/')) found.push(fieldInvalid(field, path, 'must be a relative path'))
  checkNoParentSteps(path, field, found)
}

/** Checks a path that a volume may write: relative, and not reserved for the volume itself. */
export function checkProjectedPath(path: string, field: string, found: Found): void {
  checkRelativePath(path, field, found)
  if (path.startsWith('..') && !path.startsWith('../')) {
    found.push(fieldInvalid(field, path, "must not start with '..'"))
  }
}

export function isLongerThan(text: string, bytesMax: number): boolean {
  return text.length > bytesMax || byteLength(text) > bytesMax
}
