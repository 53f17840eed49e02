import {
  celTypes,
  CelOptional,
  CelTypeValue,
  declare,
  fixedRange,
  listOf,
  listType,
  member,
  nominal,
  opaqueType,
  optionalType,
  plain,
  sizeOf,
  type CelLibrary,
  type CelValue,
} from '@skerry/cel'
import {
  checkDns1035Label,
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabelValue,
  checkQualifiedName,
} from '@skerry/api'
import { matchesFormat } from '../schema/formats.ts'
import { opaqueKind, textOf } from './opaque-values.ts'

interface NamedFormat {
  readonly check: (text: string) => string[]
  /** The length of the pattern that upstream charges for. */
  readonly patternLength: number
}

/** The prefix of a generated name may end in a hyphen, because the suffix follows it. */
function prefixed(check: (text: string) => string[]): (text: string) => string[] {
  return (text) => check(text.endsWith('-') ? `${text.slice(0, -1)}a` : text)
}

function matching(format: string, wrong: string): (text: string) => string[] {
  return (text) => (matchesFormat(format, text) ? [] : [wrong])
}

const known: Readonly<Record<string, NamedFormat>> = Object.freeze({
  dns1123Label: { check: checkDnsLabel, patternLength: 30 },
  dns1123Subdomain: { check: checkDnsSubdomain, patternLength: 60 },
  dns1035Label: { check: checkDns1035Label, patternLength: 30 },
  qualifiedName: { check: checkQualifiedName, patternLength: 60 },
  dns1123LabelPrefix: { check: prefixed(checkDnsLabel), patternLength: 30 },
  dns1123SubdomainPrefix: { check: prefixed(checkDnsSubdomain), patternLength: 60 },
  dns1035LabelPrefix: { check: prefixed(checkDns1035Label), patternLength: 30 },
  labelValue: { check: checkLabelValue, patternLength: 40 },
  uri: { check: matching('uri', 'invalid URI for request'), patternLength: 700 },
  uuid: { check: matching('uuid', 'does not match the UUID format'), patternLength: 86 },
  byte: { check: matching('byte', 'invalid base64'), patternLength: 78 },
  date: { check: matching('date', 'invalid date'), patternLength: 174 },
  datetime: { check: matching('date-time', 'invalid datetime'), patternLength: 174 },
})

const formats = opaqueKind<NamedFormat>(opaqueType('kubernetes.NamedFormat'), (a, b) => a === b)
const { type } = formats
const { string } = celTypes
const named = new Map(Object.entries(known).map(([name, format]) => [name, formats.make(format)]))

/** Adds format.named(), one function for each format, and validate(). */
export const formatLibrary: CelLibrary = {
  name: 'kubernetes.format',
  constants: {
    'kubernetes.NamedFormat': {
      type: { kind: 'type', of: type },
      value: new CelTypeValue('kubernetes.NamedFormat'),
    },
  },
  functions: [
    ...[...named].map(([name, value]) =>
      declare(
        `format.${name}`,
        plain({ id: `format.${name}`, takes: [], gives: type }, () => value),
      ),
    ),
    declare(
      'format.named',
      plain(
        { id: 'format-named', takes: [string], gives: optionalType(type) },
        (name) => new CelOptional(named.get(textOf(name))),
        {
          cost: () => 1,
          estimate: nominal,
          isCostByName: true,
        },
      ),
    ),
    declare(
      'validate',
      member(
        { id: 'format-validate', takes: [type, string], gives: optionalType(listType(string)) },
        validate,
        {
          cost: ([format, text = null]) =>
            Math.ceil((1 + sizeOf(text)) * 0.1) *
            Math.ceil(formats.read(format).patternLength * 0.25),
          estimate: ([, text]) => {
            const size = text?.size ?? fixedRange(0)
            // 32 stands for a pattern of 128 characters.
            return {
              cost: { min: Math.ceil(size.min * 0.1) * 32, max: Math.ceil(size.max * 0.1) * 32 },
            }
          },
          isCostByName: true,
        },
      ),
    ),
  ],
}

function validate(format?: CelValue, text?: CelValue): CelValue {
  const wrong = formats.read(format).check(textOf(text))
  return new CelOptional(wrong.length === 0 ? undefined : listOf(wrong))
}
