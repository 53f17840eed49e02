import {
  QuantityError,
  StatusError,
  canonicalQuantity,
  isJsonObject,
  setMember,
  type JsonObject,
  type Schema,
  type SchemaSet,
} from '@skerry/api'
import { canonicalTime, checkBase64 } from './scalar-text.ts'
import { noteHolder, noteList, noteSentEmpty } from './sent-empty.ts'
import { timeErrorText } from './time-error.ts'
import {
  FieldTypeError,
  shortName,
  goType,
  unconvertible,
  undecodable,
  type NamedType,
} from './type-words.ts'
import { bodiesBounds } from '../limits-table.ts'

export interface FieldCheck {
  /** The object, which is changed in place. */
  object: JsonObject
  schemas: SchemaSet
  schemaName: string
  /** The expected kind, for messages. If omitted, the object's own. */
  kind?: string
  /** If `object` is a part of another one: that one, and the path from it. */
  within?: { object: JsonObject; path: string }
  /**
   * True for a merged map instead of decoded JSON. Upstream's words are then different, and whole
   * numbers that are too large wrap around.
   */
  isMerged?: boolean
}

export interface FieldFindings {
  /**
   * The unknown fields in upstream's words, e.g. `unknown field "spec.foo"`; as many as
   * fieldCheckLimits allow.
   */
  readonly unknownFields: readonly string[]
}

const fieldCheckLimits = bodiesBounds.fieldCheck

/**
 * Does the same to a decoded object of a built-in kind as upstream's typed decoding: removes
 * unknown fields (and reports them), treats null as omitted, drops zero values, empty lists and
 * maps that are not always written, and formats quantities and times canonically. Throws
 * StatusError BadRequest if a value has the wrong type.
 */
export function checkFields(check: FieldCheck): FieldFindings {
  const { object, schemas, schemaName, within, isMerged = false } = check
  const checker = new FieldChecker(schemas, isMerged)
  try {
    checker.check(object, { ref: schemaName }, { ...rootPlace, path: within?.path ?? '' })
    if (checker.mistyped) throw checker.mistyped
  } catch (error) {
    if (!(error instanceof FieldTypeError)) throw error
    throw undecodedObject(within ?? check, error.message, error)
  }
  if (checker.hasEmpty) noteHolder(object)
  const { unknownFields } = checker
  return { unknownFields: isMerged ? unknownFields.toSorted() : unknownFields }
}

/** Returns `strict decoding error: …` for the findings that fieldValidation=Strict refuses. */
export function strictDecodingError(
  findings: readonly string[],
  check: Pick<FieldCheck, 'object' | 'kind'>,
): StatusError {
  const detail = `strict decoding error: ${findings.join(', ')}`
  return undecodedObject(check, detail)
}

/** Reports that the object cannot be read as its kind. It is the cause of the StatusError, which names the object. */
class DecodingError extends Error {
  override name = 'DecodingError'
}

/** Returns why an object cannot be read as its kind, or undefined for any other error. */
export function decodingDetail(error: unknown): string | undefined {
  if (!(error instanceof StatusError)) return undefined
  return error.cause instanceof DecodingError ? error.cause.message : undefined
}

/** Returns a BadRequest with a DecodingError as its cause. */
export function undecodedObject(
  check: Pick<FieldCheck, 'object' | 'kind'>,
  detail: string,
  cause?: unknown,
): StatusError {
  return new StatusError('BadRequest', `${decodingPrefix(check)}${detail}`, {
    cause: new DecodingError(detail, cause === undefined ? {} : { cause }),
  })
}

/** Returns `Pod in version "v1" cannot be handled as a Pod: `, which starts every such message. */
function decodingPrefix({ object, kind }: Pick<FieldCheck, 'object' | 'kind'>): string {
  const ownKind = typeof object['kind'] === 'string' ? object['kind'] : ''
  const apiVersion = typeof object['apiVersion'] === 'string' ? object['apiVersion'] : ''
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  return `${ownKind || kind || ''} in version "${version}" cannot be handled as a ${kind ?? ownKind}: `
}

/** The place of a value, for the message of a type error and for the path of an unknown field. */
interface Place {
  /** The Go struct's name, from the schema's. */
  readonly struct: string
  /** The path without indices, as Go's decoder prints it. */
  readonly goPath: string
  readonly path: string
}

const rootPlace: Place = Object.freeze({ struct: '', goPath: '', path: '' })

class FieldChecker {
  readonly unknownFields: string[] = []
  /**
   * The first value of a wrong type. It is reported unless a value that parses its own form is
   * wrong, too.
   */
  mistyped: FieldTypeError | undefined
  hasEmpty = false
  readonly #schemas: SchemaSet
  readonly #isMerged: boolean
  #pathCharacters = 0

  constructor(schemas: SchemaSet, isMerged: boolean) {
    this.#schemas = schemas
    this.#isMerged = isMerged
  }

  /** Returns the replacement of the value. Containers are changed in place. */
  check(value: unknown, schema: Schema, place: Place): unknown {
    const definition = schema.ref === undefined ? schema : this.#schemas[schema.ref]
    if (definition === undefined || definition.preserveUnknownFields) return value
    if (definition.ref !== undefined) return this.check(value, definition, place)
    const name = schema.ref === undefined ? undefined : shortName(schema.ref)
    if (definition.format === 'quantity') return checkQuantity(value)
    if (definition.intOrString) return this.#intOrString(value, place)
    switch (definition.type) {
      case 'object':
        return this.#object(value, { definition, name }, place)
      case 'array':
        return this.#list(value, definition, place)
      case 'string':
        return this.#string(value, { definition, name }, place)
      case 'integer':
        return this.#integer(value, definition, place)
      case 'number':
        return typeof value === 'number'
          ? value
          : this.#refuse(value, { schema: definition }, place)
      case 'boolean':
        return typeof value === 'boolean'
          ? value
          : this.#refuse(value, { schema: definition }, place)
      case undefined:
        return value
    }
  }

  #object(
    value: unknown,
    type: { definition: Schema; name: string | undefined },
    place: Place,
  ): unknown {
    const { definition, name } = type
    if (!isJsonObject(value)) return this.#refuse(value, { schema: definition, name }, place)
    if (definition.properties) this.#fields(value, type, place)
    else if (definition.additionalProperties)
      this.#entries(value, definition.additionalProperties, place)
    return value
  }

  #fields(
    object: JsonObject,
    type: { definition: Schema; name: string | undefined },
    place: Place,
  ): void {
    const { properties = {} } = type.definition
    const struct = type.name?.slice(type.name.indexOf('.') + 1) ?? place.struct
    const keys = Object.keys(object)
    for (const key of this.#isMerged ? inOrderOf(properties, keys) : keys) {
      const field = Object.hasOwn(properties, key) ? properties[key] : undefined
      const value = object[key]
      if (field !== undefined && isPlainScalar(value, field)) {
        if (field.omitZero && !value) delete object[key]
        continue
      }
      const path = place.path === '' ? key : `${place.path}.${key}`
      if (field === undefined) {
        this.#unknown(path)
        delete object[key]
        continue
      }
      if (value === null && !isRaw(field, this.#schemas)) {
        delete object[key]
        continue
      }
      const goPath = [place.goPath, field.goWithin, key].filter(Boolean).join('.')
      const checked = this.check(value, field, { struct, goPath, path })
      if (isEmptyContainer(checked, field)) {
        noteSentEmpty(object, key, checked)
        this.hasEmpty = true
        if (!field.writesNull) delete object[key]
      } else if (checked !== value) object[key] = checked
    }
  }

  #entries(map: JsonObject, schema: Schema, place: Place): void {
    for (const key of Object.keys(map)) {
      if (isPlainScalar(map[key], schema)) continue
      const value = map[key] === null ? zeroOf(schema, this.#schemas) : map[key]
      const path = `${place.path}.${key}`
      const checked = this.check(value, schema, { ...place, path })
      if (checked !== map[key]) setMember(map, key, checked)
    }
  }

  #list(value: unknown, definition: Schema, place: Place): unknown {
    if (!Array.isArray(value)) return this.#refuse(value, { schema: definition }, place)
    const items = definition.items ?? {}
    const hadEmpty = this.hasEmpty
    this.hasEmpty = false
    for (let at = 0; at < value.length; at += 1) {
      if (isPlainScalar(value[at], items)) continue
      const item: unknown = value[at] === null ? zeroOf(items, this.#schemas) : value[at]
      value[at] = this.check(item, items, { ...place, path: `${place.path}[${at}]` })
    }
    if (this.hasEmpty) noteList(value)
    this.hasEmpty ||= hadEmpty
    return value
  }

  #string(
    value: unknown,
    type: { definition: Schema; name: string | undefined },
    place: Place,
  ): unknown {
    const { format } = type.definition
    if (format === 'byte' && Array.isArray(value)) return this.#bytes(value, place)
    if (typeof value !== 'string') {
      const isTime = format === 'date-time'
      return this.#refuse(value, { schema: type.definition }, place, { isFinal: isTime })
    }
    if (format === undefined) return value
    if (format === 'byte') {
      const at = checkBase64(value)
      if (at >= 0) {
        const prefix = this.#isMerged ? 'error decoding from json: ' : ''
        const error = new FieldTypeError(`${prefix}illegal base64 data at input byte ${at}`)
        if (this.#isMerged) throw error
        this.mistyped ??= error
      }
      return value
    }
    return format === 'date-time' ? checkTime(value, type.name === 'v1.MicroTime') : value
  }

  /** Bytes may also be a list of numbers; null counts as zero. */
  #bytes(list: readonly unknown[], place: Place): unknown {
    let text = ''
    for (const item of list) {
      const byte = item ?? 0
      const isByte = typeof byte === 'number' && Number.isInteger(byte)
      if (!isByte || (byte & 0xff) !== byte) {
        const literal = typeof byte === 'number' ? ` ${byte}` : ''
        const schema: Schema = { type: 'integer', goType: 'uint8' }
        return this.#refuse(byte, { schema }, place, { literal })
      }
      text += String.fromCharCode(byte)
    }
    return btoa(text)
  }

  #integer(
    value: unknown,
    definition: Schema,
    place: Place,
    how: { isFinal?: boolean } = {},
  ): unknown {
    if (typeof value !== 'number') return this.#refuse(value, { schema: definition }, place, how)
    const bits = definition.format === 'int32' ? 32 : 64
    const size = 2 ** (bits - 1)
    if (Number.isInteger(value)) {
      if (value >= -size && value < size) return value
      if (this.#isMerged) return Number(BigInt.asIntN(bits, BigInt(value)))
    }
    return this.#refuse(value, { schema: definition }, place, { literal: ` ${value}`, ...how })
  }

  #intOrString(value: unknown, place: Place): unknown {
    if (typeof value === 'string') return value
    const definition: Schema = { type: 'integer', format: 'int32' }
    if (!this.#isMerged) return this.#integer(value, definition, place, { isFinal: true })
    if (typeof value === 'number' && (value | 0) === value) return value
    throw unconvertible(value, { schema: { intOrString: true } })
  }

  /** Throws at once if the type parses its own form, because upstream reads no further then. */
  #refuse(
    value: unknown,
    type: NamedType,
    { struct, goPath }: Place,
    { literal = '', isFinal = false }: { literal?: string; isFinal?: boolean } = {},
  ): unknown {
    if (this.#isMerged) throw unconvertible(value, type)
    const where = `struct field ${struct}.${goPath}`
    const error = undecodable(value, { where, type: goType(type), literal })
    if (isFinal) throw error
    this.mistyped ??= error
    return value
  }

  #unknown(path: string): void {
    const { unknownFieldsMax, pathCharactersMax } = fieldCheckLimits
    this.#pathCharacters += path.length
    if (this.unknownFields.length >= unknownFieldsMax) return
    if (this.#pathCharacters > pathCharactersMax) return
    this.unknownFields.push(`unknown field "${path}"`)
  }
}

function checkQuantity(value: unknown): string {
  try {
    if (typeof value === 'string') return canonicalQuantity(value.trim())
    return canonicalQuantity(typeof value === 'number' ? String(value) : '')
  } catch (error) {
    if (error instanceof QuantityError) throw new FieldTypeError(error.message)
    throw error
  }
}

function checkTime(value: string, isMicro: boolean): string {
  const time = canonicalTime(value, isMicro)
  if (time !== undefined) return time
  throw new FieldTypeError(timeErrorText(value, isMicro))
}

const placesOf = new WeakMap<object, ReadonlyMap<string, number>>()

/** Upstream reads a map in the order of its type's fields, and a body as written. */
function inOrderOf(properties: Readonly<Record<string, Schema>>, keys: string[]): string[] {
  let places = placesOf.get(properties)
  if (!places) {
    places = new Map(Object.keys(properties).map((key, at) => [key, at]))
    placesOf.set(properties, places)
  }
  const placeOf = (key: string) => places.get(key) ?? places.size
  return keys.toSorted((a, b) => placeOf(a) - placeOf(b))
}

/** Most fields are plain scalars and need no work; this avoids building their paths. */
function isPlainScalar(value: unknown, field: Schema): boolean {
  switch (typeof value) {
    case 'string':
      return field.type === 'string' && field.format === undefined
    case 'boolean':
      return field.type === 'boolean'
    case 'number':
      return field.type === 'integer' && (value | 0) === value
    default:
      return false
  }
}

function isEmptyContainer(value: unknown, field: Schema): boolean {
  if (field.type === 'array') return Array.isArray(value) && value.length === 0
  if (field.additionalProperties === undefined || !isJsonObject(value)) return false
  for (const _ in value) return false
  return true
}

function isRaw(schema: Schema, schemas: SchemaSet): boolean {
  const definition = schema.ref === undefined ? schema : (schemas[schema.ref] ?? {})
  return definition.type === undefined && !definition.intOrString && definition.format === undefined
}

/** Returns the Go value of a null list item or map value. */
function zeroOf(schema: Schema, schemas: SchemaSet): unknown {
  const definition = schema.ref === undefined ? schema : (schemas[schema.ref] ?? {})
  if (definition.format === 'quantity') return '0'
  if (definition.intOrString) return 0
  switch (definition.type) {
    case 'object':
      return {}
    case 'array':
      return []
    case 'string':
      return ''
    case 'integer':
    case 'number':
      return 0
    case 'boolean':
      return false
    case undefined:
      return null
  }
}
