import {
  celTypes,
  CelRuntimeError,
  CelTypeValue,
  declare,
  member,
  opaqueType,
  plain,
  type CelLibrary,
} from '@skerry/cel'
import { accessing, parsing } from './opaque-costs.ts'
import { opaqueKind, textOf } from './opaque-values.ts'
import { kindsBounds } from '../limits-table.ts'

const { bool, int, string } = celTypes

/** A version of semver.org 2.0.0. */
interface Version {
  readonly numbers: readonly [bigint, bigint, bigint]
  readonly prerelease: readonly string[]
}

const versions = opaqueKind<Version>(opaqueType('kubernetes.Semver'), (a, b) => compare(a, b) === 0)
const { type } = versions

/** Adds semver(), isSemver() and comparisons of versions. */
export const semverLibrary: CelLibrary = {
  name: 'kubernetes.semver',
  constants: {
    'kubernetes.Semver': {
      type: { kind: 'type', of: type },
      value: new CelTypeValue('kubernetes.Semver'),
    },
  },
  functions: [
    declare(
      'semver',
      ...[[string], [string, bool]].map((takes) =>
        plain(
          {
            id: takes.length === 1 ? 'string_to_semver' : 'string_bool_to_semver',
            takes,
            gives: type,
          },
          (text, isLoose = false) => versions.make(parsed(textOf(text), isLoose === true)),
          parsing,
        ),
      ),
    ),
    declare(
      'isSemver',
      ...[[string], [string, bool]].map((takes) =>
        plain(
          {
            id: takes.length === 1 ? 'is_semver_string' : 'is_semver_string_bool',
            takes,
            gives: bool,
          },
          (text, isLoose = false) => parse(textOf(text), isLoose === true) !== undefined,
          parsing,
        ),
      ),
    ),
    declare(
      'isGreaterThan',
      member(
        { id: 'semver_is_greater_than', takes: [type, type], gives: bool },
        (a, b) => compare(versions.read(a), versions.read(b)) > 0,
        accessing,
      ),
    ),
    declare(
      'isLessThan',
      member(
        { id: 'semver_is_less_than', takes: [type, type], gives: bool },
        (a, b) => compare(versions.read(a), versions.read(b)) < 0,
        accessing,
      ),
    ),
    declare(
      'compareTo',
      member(
        { id: 'semver_compare_to', takes: [type, type], gives: int },
        (a, b) => BigInt(compare(versions.read(a), versions.read(b))),
        accessing,
      ),
    ),
    ...(['major', 'minor', 'patch'] as const).map((name, at) =>
      declare(
        name,
        member(
          { id: `semver_${name}`, takes: [type], gives: int },
          (value) => versions.read(value).numbers[at] ?? 0n,
          accessing,
        ),
      ),
    ),
  ],
}

const pattern =
  /^(0|[1-9]\d{0,18})\.(0|[1-9]\d{0,18})\.(0|[1-9]\d{0,18})(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$/

const { lengthMax } = kindsBounds.semverLibrary

function parse(text: string, isLoose: boolean): Version | undefined {
  const found = text.length > lengthMax ? null : pattern.exec(isLoose ? tightened(text) : text)
  if (!found) return undefined
  const [, major = '0', minor = '0', patch = '0', prerelease] = found
  return {
    numbers: [BigInt(major), BigInt(minor), BigInt(patch)],
    prerelease: prerelease?.split('.') ?? [],
  }
}

/** Normalizes `v1.02` to `1.2.0`. */
function tightened(text: string): string {
  const [, numbers = '', rest = ''] = /^v?([\d.]*)(.*)$/s.exec(text.trim()) ?? []
  const parts = numbers.split('.').map((part) => part.replace(/^0+(?=\d)/, ''))
  while (parts.length < 3) parts.push('0')
  return parts.join('.') + rest
}

function parsed(text: string, isLoose: boolean): Version {
  const version = parse(text, isLoose)
  if (version) return version
  const parts = text.split(/[-+]/)[0]?.split('.') ?? []
  throw new CelRuntimeError(
    parts.length === 3
      ? `Invalid character(s) found in version "${text}"`
      : 'No Major.Minor.Patch elements found',
  )
}

function compare(a: Version, b: Version): number {
  for (const [at, number] of a.numbers.entries()) {
    const other = b.numbers[at] ?? 0n
    if (number !== other) return number < other ? -1 : 1
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return Math.sign(b.prerelease.length - a.prerelease.length)
  }
  for (const [at, part] of a.prerelease.entries()) {
    const other = b.prerelease[at]
    if (other === undefined) return 1
    const order = compareParts(part, other)
    if (order !== 0) return order
  }
  return Math.sign(a.prerelease.length - b.prerelease.length)
}

function compareParts(a: string, b: string): number {
  if (a === b) return 0
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (isNumber && isOtherNumber) return BigInt(a) < BigInt(b) ? -1 : 1
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return a < b ? -1 : 1
}
