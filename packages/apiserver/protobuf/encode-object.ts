import { parseDurationMs } from '@skerry/api'
import { ProtoWriter } from '@skerry/base'
import { shortName, type Field, type Messages } from './message-table.ts'

type JsonRecord = Readonly<Record<string, unknown>>

const nothing: JsonRecord = Object.freeze({})
const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00)

export interface ProtobufEncoder {
  /** Encodes an object with its envelope, as a whole answer or in a watch event. */
  object(value: JsonRecord, message: string): Uint8Array
  /** Encodes one message without an envelope, e.g. a list's item. */
  message(value: JsonRecord, message: string): Uint8Array
  /** Encodes one event of a watch: `{"type": …, "object": …}`, preceded by its length. */
  watchEvent(type: string, object: Uint8Array): Uint8Array
}

/**
 * Returns the bytes before and after an object's message: magic number, type and the two empty
 * content fields.
 */
export function envelope(
  { apiVersion, kind }: { apiVersion: string; kind: string },
  messageBytes: number,
): { head: Uint8Array; tail: Uint8Array } {
  const writer = new ProtoWriter()
  writer.varint(messageBytes)
  writer.tag(2, 2)
  const mark = writer.length
  textField(writer, 2, kind)
  textField(writer, 1, apiVersion)
  writer.close(1, mark)
  writer.raw(magic)
  return { head: writer.done(), tail: envelopeTail }
}

const envelopeTail = Uint8Array.of(0x1a, 0, 0x22, 0)

/** Encodes the JSON form of built-in kinds to the same bytes as upstream's encoder. */
export function createProtobufEncoder(messages: Messages): ProtobufEncoder {
  const encoder = new MessageEncoder(messages)
  const typeOf = ({ apiVersion, kind }: JsonRecord) => ({
    apiVersion: typeof apiVersion === 'string' ? apiVersion : '',
    kind: typeof kind === 'string' ? kind : '',
  })
  return {
    object(value, message) {
      const body = encoder.encode(value, message)
      const { head, tail } = envelope(typeOf(value), body.length)
      return Buffer.concat([head, body, tail])
    },
    message: (value, message) => encoder.encode(value, message),
    watchEvent(type, object) {
      const writer = new ProtoWriter()
      writer.raw(object)
      writer.close(1, 0)
      writer.close(2, 0)
      textField(writer, 1, type)
      const frame = Buffer.allocUnsafe(4 + writer.length)
      frame.writeUInt32BE(writer.length)
      frame.set(writer.done(), 4)
      return frame
    },
  }
}

/** Returns the tag and length of a field whose content is already encoded. */
export function lengthPrefix(field: number, bytes: number): Uint8Array {
  const writer = new ProtoWriter()
  writer.varint(bytes)
  writer.tag(field, 2)
  return writer.done()
}

function textField(writer: ProtoWriter, field: number, text: string): void {
  const mark = writer.length
  writer.text(text)
  writer.close(field, mark)
}

class MessageEncoder {
  readonly #messages: Messages
  readonly #descending = new Map<string, readonly Field[]>()
  readonly #writer = new ProtoWriter()

  constructor(messages: Messages) {
    this.#messages = messages
  }

  encode(value: JsonRecord, message: string): Uint8Array {
    this.#writer.clear()
    this.#message(message, value)
    return this.#writer.done()
  }

  #message(name: string, value: JsonRecord): void {
    for (const field of this.#fieldsOf(name)) this.#field(field, value)
  }

  #field([number, name, type, flags]: Field, parent: JsonRecord): void {
    const value = name === '' ? parent : parent[name]
    if (flags !== '' && flags !== 'z') {
      if (flags.includes('m')) return this.#map(number, type, value)
      if (flags.includes('r')) return this.#list(number, type, value)
      // This is a pointer in Go; nothing is written if it is nil.
      if (value === undefined || value === null) return
    }
    this.#value(number, type, value ?? undefined)
  }

  #list(number: number, type: string, value: unknown): void {
    if (!Array.isArray(value)) return
    for (let at = value.length - 1; at >= 0; at -= 1) this.#value(number, type, value[at])
  }

  #map(number: number, type: string, value: unknown): void {
    if (!isRecord(value)) return
    const keys = Object.keys(value).toSorted().toReversed()
    for (const key of keys) {
      const mark = this.#writer.length
      this.#value(2, type, value[key])
      textField(this.#writer, 1, key)
      this.#writer.close(number, mark)
    }
  }

  /** Writes the field, or zero if the JSON does not have it. */
  #value(number: number, type: string, value: unknown): void {
    const writer = this.#writer
    const mark = writer.length
    switch (type) {
      case 'string':
        writer.text(typeof value === 'string' ? value : '')
        break
      case 'int':
        writer.varint(typeof value === 'number' ? value : 0)
        return writer.tag(number, 0)
      case 'bool':
        writer.varint(value === true ? 1 : 0)
        return writer.tag(number, 0)
      case 'double':
        writer.double(typeof value === 'number' ? value : 0)
        return writer.tag(number, 1)
      case 'bytes':
        if (typeof value === 'string') writer.raw(Buffer.from(value, 'base64'))
        break
      default:
        this.#messageValue(type, value)
    }
    writer.close(number, mark)
  }

  #messageValue(type: string, value: unknown): void {
    const name = shortName(type)
    const special = specialTypes[name]
    if (special) return special(this.#writer, value)
    const shape = shapes[name]?.(value) ?? value
    this.#message(type, isRecord(shape) ? shape : nothing)
  }

  #fieldsOf(name: string): readonly Field[] {
    const known = this.#descending.get(name)
    if (known) return known
    const fields = this.#messages[name]
    if (!fields) throw new RangeError(`Cannot encode ${name}: it has no protobuf form`)
    const descending = fields.toSorted((a, b) => b[0] - a[0])
    this.#descending.set(name, descending)
    return descending
  }
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Messages whose JSON form is not an object of their fields. */
const specialTypes: Readonly<Record<string, (writer: ProtoWriter, value: unknown) => void>> =
  Object.freeze({
    Quantity: (writer, value) => textField(writer, 1, scalarText(value) || '0'),
    Time: (writer, value) => time(writer, value, 1_000_000_000),
    MicroTime: (writer, value) => time(writer, value, 1_000),
    Duration(writer, value) {
      const ms = typeof value === 'string' ? (parseDurationMs(value) ?? 0) : 0
      number(writer, 1, Math.round(ms * 1e6))
    },
    IntOrString(writer, value) {
      textField(writer, 3, typeof value === 'string' ? value : '')
      number(writer, 2, typeof value === 'number' ? value : 0)
      number(writer, 1, typeof value === 'string' ? 1 : 0)
    },
    RawExtension: rawJson,
    FieldsV1: rawJson,
    JSON: rawJson,
  })

/** Converts JSON unions and named lists to the messages that represent them. */
const shapes: Readonly<Record<string, (value: unknown) => unknown>> = Object.freeze({
  Verbs: (items) => ({ items }),
  ExtraValue: (items) => ({ items }),
  JSONSchemaPropsOrBool: (value) =>
    typeof value === 'boolean' ? { allows: value } : { allows: true, schema: value },
  JSONSchemaPropsOrArray: (value) =>
    Array.isArray(value) ? { jSONSchemas: value } : { schema: value },
  JSONSchemaPropsOrStringArray: (value) =>
    Array.isArray(value) ? { property: value } : { schema: value },
})

function number(writer: ProtoWriter, field: number, value: number): void {
  writer.varint(value)
  writer.tag(field, 0)
}

function rawJson(writer: ProtoWriter, value: unknown): void {
  if (value === undefined) return
  textField(writer, 1, JSON.stringify(value))
}

function scalarText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/**
 * Writes an RFC 3339 time as seconds and nanoseconds, truncated to `stepNanos`. Writes nothing for
 * an unset time.
 */
function time(writer: ProtoWriter, value: unknown, stepNanos: number): void {
  if (typeof value !== 'string') return
  const ms = Date.parse(value)
  if (Number.isNaN(ms)) return
  const fraction = /\.(\d{1,9})/.exec(value)?.[1] ?? ''
  const nanos = Number(fraction.padEnd(9, '0'))
  number(writer, 2, nanos - (nanos % stepNanos))
  number(writer, 1, Math.floor(ms / 1000))
}
