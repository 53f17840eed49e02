import { isJsonObject, quoteGo, type CustomResourceDefinition, type JsonObject } from '@skerry/api'
import type { LooseObject } from '../typed-strategy.ts'

/** The formats that a schema may give to text, without their hyphens. */
const textFormats: ReadonlySet<string> = new Set(
  `bsonobjectid byte cidr creditcard date datetime duration email hexcolor hostname ipv4 ipv6 isbn
  isbn10 isbn13 k8slongname k8sshortname mac password rgbcolor ssn uri uuid uuid3 uuid4 uuid5`.split(
    /\s+/,
  ),
)
const otherFormats: Readonly<Record<string, readonly string[]>> = Object.freeze({
  integer: ['int32', 'int64'],
  number: ['double', 'float'],
})

/** Warns of formats that are not checked; on update, of new ones only. */
export function warningsOfFormats(
  next: LooseObject<CustomResourceDefinition>,
  old?: LooseObject<CustomResourceDefinition>,
): string[] {
  const before = new Set(old ? unknownFormats(old) : [])
  const unknown = unknownFormats(next).filter((format) => !before.has(format))
  return unknown.map((format) => `unrecognized format ${quoteGo(format)}`)
}

function unknownFormats({ spec = {} }: LooseObject<CustomResourceDefinition>): string[] {
  return (spec.versions ?? []).flatMap(({ schema }) => unknownFormatsOf(schema?.openAPIV3Schema))
}

function unknownFormatsOf(schema: unknown): string[] {
  if (!isJsonObject(schema)) return []
  const { format, type } = schema
  const own = typeof format === 'string' && format && !isKnown(format, type) ? [format] : []
  return [...own, ...schemasBelow(schema).flatMap(unknownFormatsOf)]
}

function isKnown(format: string, type: unknown): boolean {
  if (type === undefined || type === '' || type === 'string') {
    return textFormats.has(format.replaceAll('-', ''))
  }
  return typeof type === 'string' && (otherFormats[type]?.includes(format) ?? false)
}

function schemasBelow(schema: Readonly<JsonObject>): unknown[] {
  const one = [schema['items'], schema['additionalProperties'], schema['not']]
  const lists = [schema['allOf'], schema['anyOf'], schema['oneOf']]
  const maps = [schema['properties'], schema['patternProperties'], schema['definitions']]
  return [
    ...one.flatMap((value) => (value === undefined ? [] : [value])),
    ...lists.flatMap((list) => (Array.isArray(list) ? list : [])),
    ...maps.flatMap((map) => (isJsonObject(map) ? Object.values(map) : [])),
  ]
}
