import { MalformedProtobufError, ProtoReader, ProtoWriter } from '@skerry/base'
import { etcdServerBounds } from '../limits-table.ts'
import {
  etcdMessages,
  type Message,
  type MessageDraft,
  type MessageName,
} from './etcd-messages-table.ts'

const { depthMax, fieldsMax } = etcdServerBounds.messageCodec

export type Scalar = 'bytes' | 'int' | 'int64' | 'uint64' | 'bool' | 'string'
type MessageRecord = Record<string, unknown>

export interface FieldPlan {
  readonly number: number
  readonly name: string
  readonly isRepeated: boolean
  /** One of the two. */
  readonly scalar: Scalar | undefined
  readonly message: MessageName | undefined
}

interface MessagePlan {
  /** In ascending order of their numbers. */
  readonly fields: readonly FieldPlan[]
  readonly byNumber: ReadonlyMap<number, FieldPlan>
  readonly zero: Readonly<MessageRecord>
}

/**
 * Reads a message; fields that are not set have their zero values. Throws MalformedProtobufError for bytes that are
 * none, nested too deeply, or of too many fields.
 */
export function decodeMessage<Name extends MessageName>(
  name: Name,
  bytes: Uint8Array,
): Message<Name> {
  // The plan of this name sets exactly the fields of this type.
  return decode(planOf(name), new ProtoReader(bytes), { depth: 0, fields: 0 }) as Message<Name>
}

interface Budget {
  depth: number
  fields: number
}

function decode(plan: MessagePlan, reader: ProtoReader, budget: Budget): MessageRecord {
  if (budget.depth > depthMax) throw new MalformedProtobufError('it is nested too deeply')
  const into: MessageRecord = { ...plan.zero }
  for (let next = reader.next(); next; next = reader.next()) {
    budget.fields += 1
    if (budget.fields > fieldsMax) throw new MalformedProtobufError('it has too many fields')
    const field = plan.byNumber.get(next.field)
    if (field === undefined) reader.skip(next.wire)
    else if (field.isRepeated) append(field, next.wire, reader, { into, budget })
    else into[field.name] = valueOf(field, next.wire, reader, budget)
  }
  return into
}

function append(
  field: FieldPlan,
  wire: number,
  reader: ProtoReader,
  { into, budget }: { into: MessageRecord; budget: Budget },
): void {
  const known = into[field.name]
  const list: unknown[] = Array.isArray(known) && known.length > 0 ? known : []
  into[field.name] = list
  const isPacked = wire === 2 && wireOf(field) !== 2
  if (!isPacked) return void list.push(valueOf(field, wire, reader, budget))
  const packed = reader.bytes()
  const inner = new ProtoReader(packed)
  while (!inner.isAtEnd) {
    budget.fields += 1
    if (budget.fields > fieldsMax) throw new MalformedProtobufError('it has too many fields')
    list.push(valueOf(field, wireOf(field), inner, budget))
  }
}

function valueOf(field: FieldPlan, wire: number, reader: ProtoReader, budget: Budget): unknown {
  if (wire !== wireOf(field)) {
    throw new MalformedProtobufError(`field ${field.number} has wire type ${wire}`)
  }
  if (field.scalar !== undefined) return readers[field.scalar](reader)
  budget.depth += 1
  const bytes = reader.bytes()
  const value = decode(planOf(field.message ?? 'Empty'), new ProtoReader(bytes), budget)
  budget.depth -= 1
  return value
}

/** Returns the fields of a message in ascending order of their numbers. */
export function fieldsOf(name: MessageName): readonly FieldPlan[] {
  return planOf(name).fields
}

/** Writes a message; fields with zero values are left out, messages within are not. */
export function encodeMessage<Name extends MessageName>(
  name: Name,
  message: MessageDraft<Name>,
  writer: ProtoWriter = new ProtoWriter(),
): ProtoWriter {
  encode(planOf(name), message, writer)
  return writer
}

function encode(plan: MessagePlan, message: Readonly<MessageRecord>, writer: ProtoWriter): void {
  for (let at = plan.fields.length - 1; at >= 0; at -= 1) {
    const field = plan.fields[at]
    const value = field && message[field.name]
    if (field === undefined || value === undefined) continue
    if (!field.isRepeated) write(field, value, writer)
    else if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index -= 1) {
        write(field, value[index], writer, true)
      }
    }
  }
}

const sharedBytes = Symbol('the bytes of a message that several others contain')
/** Null until the bytes are made; undefined if they are not shared. */
type SharedRecord = MessageRecord & { [sharedBytes]?: Uint8Array | null }

/** Makes the bytes of a message only once, however many messages contain it. It must not change afterwards. */
export function shareBytes<T extends object>(message: T): T {
  return sharedBytes in message ? message : Object.assign(message, { [sharedBytes]: null })
}

function encodeWithin(plan: MessagePlan, message: SharedRecord, writer: ProtoWriter): void {
  const known = message[sharedBytes]
  if (known === undefined) return encode(plan, message, writer)
  if (known) return writer.raw(known)
  const own = new ProtoWriter()
  encode(plan, message, own)
  const bytes = own.done()
  message[sharedBytes] = bytes
  writer.raw(bytes)
}

function write(field: FieldPlan, value: unknown, writer: ProtoWriter, isElement = false): void {
  const mark = writer.length
  if (field.message !== undefined) {
    // Values of a field of messages are records.
    encodeWithin(planOf(field.message), value as SharedRecord, writer)
    return writer.close(field.number, mark)
  }
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') {
    if (!value && !isElement) return
    if (typeof value === 'bigint') writer.varint64(value)
    else writer.varint(Number(value))
    return writer.tag(field.number, 0)
  }
  if (typeof value === 'string') {
    if (value === '' && !isElement) return
    writer.text(value)
  } else if (value instanceof Uint8Array) {
    if (value.length === 0 && !isElement) return
    writer.raw(value)
  }
  writer.close(field.number, mark)
}

const readers: Readonly<Record<Scalar, (reader: ProtoReader) => unknown>> = Object.freeze({
  bytes: (reader) => reader.bytes(),
  int: (reader) => reader.int(),
  int64: (reader) => reader.int64(),
  uint64: (reader) => BigInt.asUintN(64, reader.int64()),
  bool: (reader) => reader.int() !== 0,
  string: (reader) => reader.string(),
})

const noBytes = new Uint8Array(0)
const nothing: readonly unknown[] = Object.freeze([])

const zeros: Readonly<Record<Scalar, unknown>> = Object.freeze({
  bytes: noBytes,
  int: 0,
  int64: 0n,
  uint64: 0n,
  bool: false,
  string: '',
})

function wireOf({ scalar }: FieldPlan): number {
  return scalar === undefined || scalar === 'bytes' || scalar === 'string' ? 2 : 0
}

const plans = new Map<MessageName, MessagePlan>()

function planOf(name: MessageName): MessagePlan {
  const known = plans.get(name)
  if (known) return known
  const fields = Object.entries<string>(etcdMessages[name]).map(fieldOf)
  const zero = Object.fromEntries(fields.map((field) => [field.name, zeroOf(field)]))
  const byNumber = new Map(fields.map((field) => [field.number, field]))
  const plan = { fields: fields.toSorted((a, b) => a.number - b.number), byNumber, zero }
  plans.set(name, plan)
  return plan
}

function fieldOf([name, text]: [string, string]): FieldPlan {
  const [, repeated, type = '', number] = /^(repeated )?(\w+) (\d+)$/.exec(text) ?? []
  const isRepeated = repeated !== undefined
  const field = { number: Number(number), name, isRepeated }
  if (isScalar(type)) return { ...field, scalar: type, message: undefined }
  if (!isMessageName(type))
    throw new TypeError(`Cannot plan field ${name}: type ${type} is unknown`)
  return { ...field, scalar: undefined, message: type }
}

function zeroOf({ isRepeated, scalar }: FieldPlan): unknown {
  if (isRepeated) return nothing
  return scalar === undefined ? undefined : zeros[scalar]
}

function isScalar(type: string): type is Scalar {
  return Object.hasOwn(zeros, type)
}

function isMessageName(type: string): type is MessageName {
  return Object.hasOwn(etcdMessages, type)
}
