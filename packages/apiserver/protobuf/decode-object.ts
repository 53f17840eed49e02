import { formatDurationMs, StatusError } from '@skerry/api'
import { MalformedProtobufError, ProtoReader } from '@skerry/base'
import { unreadableBody } from '@skerry/bodies'
import { badRequest } from '../registry/registry-errors.ts'
import { loadMessages, messageName, shortName, type Field, type Messages } from './message-table.ts'
import { apiServerBounds } from '../limits-table.ts'

export const protobufType = 'application/vnd.kubernetes.protobuf'

type JsonRecord = Record<string, unknown>

const { depthMax, fieldsMax } = apiServerBounds.decodeObject
/** runtime.Unknown, after a magic number of four bytes. */
const magic = Object.freeze([0x6b, 0x38, 0x73, 0x00])

/**
 * Decodes a protobuf body to the equivalent JSON value. Throws StatusError BadRequest, and
 * RequestEntityTooLarge if there are too many fields.
 */
export async function decodeProtobuf(
  bytes: Uint8Array,
  schemaName: string,
  kindName?: string,
): Promise<JsonRecord> {
  const messages = await loadMessages()
  if (magic.some((byte, at) => bytes[at] !== byte)) {
    const detail = `provided data does not appear to be a protobuf message, expected prefix [${magic.join(' ')}]`
    throw unreadableBody(detail, { bytes, typeName: kindName })
  }
  return orBadRequest(() => {
    const { typeMeta, raw } = openEnvelope(bytes)
    const decoder = new MessageDecoder(messages, fieldsMax)
    return { ...typeMeta, ...decoder.message(schemaName, raw, {}, 0) }
  })
}

/**
 * Decodes an object whose kind only its bytes name. Returns undefined if the kind is unknown.
 * Throws StatusError BadRequest.
 */
export function decodeAnyProtobuf(bytes: Uint8Array, messages: Messages): JsonRecord | undefined {
  if (magic.some((byte, at) => bytes[at] !== byte)) return undefined
  return orBadRequest(() => {
    const { typeMeta, raw } = openEnvelope(bytes)
    const name = messageName(messages, typeMeta)
    if (name === undefined) return undefined
    return { ...typeMeta, ...new MessageDecoder(messages).message(name, raw, {}, 0) }
  })
}

/** Does the same for callers that rarely use protobuf. */
export async function readAnyProtobuf(bytes: Uint8Array): Promise<JsonRecord | undefined> {
  return decodeAnyProtobuf(bytes, await loadMessages())
}

function orBadRequest<T>(decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof MalformedProtobufError)) throw error
    const text = `the object provided is unrecognized: malformed protobuf: ${error.why}`
    const refused = badRequest(text)
    refused.cause = error
    throw refused
  }
}

function openEnvelope(bytes: Uint8Array) {
  const reader = new ProtoReader(bytes, magic.length)
  const typeMeta: { apiVersion: string; kind: string } = { apiVersion: '', kind: '' }
  let raw: Uint8Array = new Uint8Array(0)
  for (let next = reader.next(); next; next = reader.next()) {
    if (next.field === 1) readTypeMeta(reader.bytes(), typeMeta)
    else if (next.field === 2) raw = reader.bytes()
    else reader.skip(next.wire)
  }
  return { typeMeta, raw }
}

function readTypeMeta(bytes: Uint8Array, into: { apiVersion: string; kind: string }): void {
  const reader = new ProtoReader(bytes)
  for (let next = reader.next(); next; next = reader.next()) {
    if (next.field === 1) into.apiVersion = reader.string()
    else if (next.field === 2) into.kind = reader.string()
    else reader.skip(next.wire)
  }
}

function tooManyFields(): StatusError {
  const message = `Request entity too large: limit is ${fieldsMax} fields`
  return new StatusError('RequestEntityTooLarge', message)
}

class MessageDecoder {
  readonly #messages: Messages
  readonly #fields = new Map<string, ReadonlyMap<number, Field>>()

  #fieldsLeft: number

  constructor(messages: Messages, most = Infinity) {
    this.#messages = messages
    this.#fieldsLeft = most
  }

  /** Fills `into`, so that inlined messages share their parent's object. */
  message(name: string, bytes: Uint8Array, into: JsonRecord, depth: number): JsonRecord {
    if (depth > depthMax) throw new MalformedProtobufError('it is nested too deeply')
    const fields = this.#fieldsOf(name)
    const reader = new ProtoReader(bytes)
    for (let next = reader.next(); next; next = reader.next()) {
      if (this.#fieldsLeft-- === 0) throw tooManyFields()
      const field = fields.get(next.field)
      if (field) this.#field(field, reader, into, depth)
      else reader.skip(next.wire)
    }
    return into
  }

  #field(field: Field, reader: ProtoReader, into: JsonRecord, depth: number): void {
    const [, name, type, flags] = field
    if (name === '') {
      this.message(type, reader.bytes(), into, depth + 1)
      return
    }
    if (flags.includes('m')) {
      const entry = this.#mapEntry(type, reader.bytes(), depth)
      const map = recordAt(into, name)
      Object.defineProperty(map, entry.key, {
        value: entry.value,
        enumerable: true,
        writable: true,
        configurable: true,
      })
      return
    }
    const value = this.#value(type, reader, depth)
    if (flags.includes('r')) listAt(into, name).push(value)
    else if (!flags.includes('z') || !isZero(value)) into[name] = value
  }

  #value(type: string, reader: ProtoReader, depth: number): unknown {
    switch (type) {
      case 'string':
        return reader.string()
      case 'int':
        return reader.int()
      case 'bool':
        return reader.int() !== 0
      case 'double':
        return reader.double()
      case 'bytes':
        return Buffer.from(reader.bytes()).toString('base64')
      default:
        return this.#messageValue(type, reader.bytes(), depth)
    }
  }

  #messageValue(type: string, bytes: Uint8Array, depth: number): unknown {
    const raw = rawJson.has(shortName(type))
    if (raw) return parseRaw(bytes)
    const plain = this.message(type, bytes, {}, depth + 1)
    const special = specialTypes[shortName(type)]
    return special ? special(plain) : plain
  }

  #mapEntry(type: string, bytes: Uint8Array, depth: number): { key: string; value: unknown } {
    const reader = new ProtoReader(bytes)
    let key = ''
    let value: unknown = type === 'string' || type === 'bytes' ? '' : {}
    for (let next = reader.next(); next; next = reader.next()) {
      if (next.field === 1) key = reader.string()
      else if (next.field === 2) value = this.#value(type, reader, depth + 1)
      else reader.skip(next.wire)
    }
    return { key, value }
  }

  #fieldsOf(name: string): ReadonlyMap<number, Field> {
    const known = this.#fields.get(name)
    if (known) return known
    const fields = this.#messages[name]
    if (!fields) throw new MalformedProtobufError(`${name} has no protobuf form`)
    const byNumber = new Map(fields.map((field) => [field[0], field]))
    this.#fields.set(name, byNumber)
    return byNumber
  }
}

function recordAt(into: JsonRecord, name: string): JsonRecord {
  const found = into[name]
  // Only this decoder writes into the object, and the same field is always a map.
  if (found !== undefined) return found as JsonRecord
  const made: JsonRecord = {}
  into[name] = made
  return made
}

function listAt(into: JsonRecord, name: string): unknown[] {
  const found = into[name]
  if (Array.isArray(found)) return found
  const made: unknown[] = []
  into[name] = made
  return made
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false
}

/** Messages whose only field holds JSON text. */
const rawJson = new Set(['RawExtension', 'FieldsV1', 'JSON'])

function parseRaw(bytes: Uint8Array): unknown {
  const reader = new ProtoReader(bytes)
  let text = ''
  for (let next = reader.next(); next; next = reader.next()) {
    if (next.field === 1) text = reader.string()
    else reader.skip(next.wire)
  }
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new MalformedProtobufError('embedded JSON cannot be read', { cause: error })
  }
}

/** Types whose JSON form is not an object of their fields. */
const specialTypes: Readonly<Record<string, (message: JsonRecord) => unknown>> = Object.freeze({
  Quantity: ({ string }) => string ?? '0',
  Time: (message) => timeOf(message, 0),
  MicroTime: (message) => timeOf(message, 6),
  Duration: ({ duration }) => formatDurationMs(Number(duration ?? 0) / 1e6),
  IntOrString: ({ type, intVal, strVal }) => (type === 1 ? (strVal ?? '') : (intVal ?? 0)),
  Verbs: ({ items }) => items ?? [],
  ExtraValue: ({ items }) => items ?? [],
  JSONSchemaPropsOrBool: ({ schema, allows }) => schema ?? allows ?? false,
  JSONSchemaPropsOrArray: ({ schema, jSONSchemas }) => schema ?? jSONSchemas ?? [],
  JSONSchemaPropsOrStringArray: ({ schema, property }) => schema ?? property ?? [],
})

/** RFC 3339, or null for an unset time. */
function timeOf({ seconds, nanos }: JsonRecord, fractionDigits: number): string | null {
  if (typeof seconds !== 'number') return null
  const whole = new Date(seconds * 1000)
  if (Number.isNaN(whole.getTime())) throw new MalformedProtobufError('a time is out of range')
  const text = whole.toISOString().slice(0, 19)
  if (fractionDigits === 0) return `${text}Z`
  const fraction = String(Math.trunc(Number(nanos ?? 0) / 1000)).padStart(6, '0')
  return `${text}.${fraction}Z`
}
