import { etcdServerBounds } from '../limits-table.ts'
import { fieldsOf, type FieldPlan } from '../wire/message-codec.ts'
import type { MessageDraft, MessageName } from '../wire/etcd-messages-table.ts'
import { enumNames, jsonNameOf, smallNumbers } from './json-names-table.ts'

const { pieceChars } = etcdServerBounds.jsonWriter

type Json = Readonly<Record<string, unknown>>

/**
 * Writes a message as protobuf's JSON: bytes as base64, numbers of 64 bits as texts, enumerations by name, without
 * fields that have their zero values. The pieces are at least `pieceChars` long, but for the last one.
 */
export function* jsonPieces<Name extends MessageName>(
  name: Name,
  message: MessageDraft<Name>,
): Generator<string, void> {
  let piece = '{'
  let separator = ''
  for (const field of writersOf(name)) {
    const value = (message as Json)[field.plan.name]
    if (isLeftOut(field.plan, value)) continue
    piece += `${separator}${field.label}`
    separator = ','
    if (!Array.isArray(value)) {
      piece += field.text(value)
      continue
    }
    piece += '['
    for (const [at, each] of value.entries()) {
      piece += `${at === 0 ? '' : ','}${field.text(each)}`
      if (piece.length < pieceChars) continue
      yield piece
      piece = ''
    }
    piece += ']'
  }
  yield `${piece}}`
}

/** Writes a message that is small, or part of another one. */
export function jsonText<Name extends MessageName>(
  name: Name,
  message: MessageDraft<Name>,
): string {
  return [...jsonPieces(name, message)].join('')
}

interface FieldWriter {
  readonly plan: FieldPlan
  /** The name with its colon. */
  readonly label: string
  readonly text: (value: unknown) => string
}

const writers = new Map<MessageName, readonly FieldWriter[]>()

function writersOf(message: MessageName): readonly FieldWriter[] {
  const known = writers.get(message)
  if (known) return known
  const made = fieldsOf(message).map((plan) => ({
    plan,
    label: `${JSON.stringify(jsonNameOf(message, plan.name))}:`,
    text: textOf(`${message}.${plan.name}`, plan),
  }))
  writers.set(message, made)
  return made
}

function textOf(path: string, { message, scalar }: FieldPlan): (value: unknown) => string {
  // Values of a field of messages are drafts of it.
  if (message !== undefined) return (value) => jsonText(message, value as object)
  const names = enumNames[path]
  if (names) return (value) => JSON.stringify(names[Number(value)] ?? value)
  if (smallNumbers.has(path)) return (value) => String(Number(value))
  switch (scalar) {
    case 'bytes':
      return base64Of
    case 'int':
    case 'int64':
    case 'uint64':
      return (value) => `"${String(value)}"`
    case 'bool':
    case 'string':
    case undefined:
      return (value) => JSON.stringify(value)
  }
}

function base64Of(value: unknown): string {
  if (!(value instanceof Uint8Array)) return '""'
  const { buffer, byteOffset, byteLength } = value
  return `"${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}"`
}

function isLeftOut({ isRepeated, message }: FieldPlan, value: unknown): boolean {
  if (value === undefined) return true
  if (isRepeated) return !Array.isArray(value) || value.length === 0
  if (message !== undefined) return false
  if (value instanceof Uint8Array) return value.length === 0
  return !value
}
