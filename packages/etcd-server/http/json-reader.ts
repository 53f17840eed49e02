import { etcdServerBounds } from '../limits-table.ts'
import { fieldsOf, type FieldPlan, type Scalar } from '../wire/message-codec.ts'
import type { MessageDraft, MessageName } from '../wire/etcd-messages-table.ts'
import { enumNames, exclusiveFields, joinedName, jsonNameOf } from './json-names-table.ts'

const { depthMax } = etcdServerBounds.messageCodec

/** Reports JSON that is not the expected message; `why` says where it deviates. */
export class MalformedJsonError extends Error {
  override name = 'MalformedJsonError'
  readonly why: string
  constructor(why: string, options?: ErrorOptions) {
    super(`Cannot read JSON: ${why}`, options)
    this.why = why
  }
}

/** Reads protobuf's JSON of a message. Fields that the message does not have are skipped. Throws MalformedJsonError. */
export function readJson<Name extends MessageName>(name: Name, text: string): MessageDraft<Name> {
  // The fields of this name are exactly those of this type.
  return draftOf(name, parsed(text), 0) as MessageDraft<Name>
}

/** A number with so many digits is not exact in JavaScript. */
const longNumber = /[0-9]{16}/

function parsed(text: string): unknown {
  try {
    return longNumber.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text)
  } catch (error) {
    // A RangeError reports values within values until the stack ends.
    if (!(error instanceof SyntaxError) && !(error instanceof RangeError)) throw error
    throw new MalformedJsonError('it is not JSON', { cause: error })
  }
}

function exactNumber(this: unknown, _name: string, value: unknown, context?: unknown): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  if (typeof context !== 'object' || context === null || !('source' in context)) return value
  const source = String(context.source)
  return /^-?[0-9]+$/.test(source) ? BigInt(source) : value
}

interface FieldReader {
  readonly plan: FieldPlan
  readonly read: (value: unknown, depth: number) => unknown
}

function draftOf(name: MessageName, value: unknown, depth: number): object {
  if (depth > depthMax) throw new MalformedJsonError('it is nested too deeply')
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MalformedJsonError(`an object is expected, not ${shapeOf(value)}`)
  }
  const draft: Record<string, unknown> = {}
  const readers = readersOf(name)
  const exclusive = exclusiveFields[name] ?? []
  let taken: string | undefined
  for (const [key, each] of Object.entries(value)) {
    const field = readers.get(key)
    if (field === undefined || each === null) continue
    const { plan, read } = field
    if (Object.hasOwn(draft, plan.name)) throw new MalformedJsonError(`duplicate field "${key}"`)
    if (exclusive.includes(plan.name)) {
      if (taken !== undefined) throw new MalformedJsonError(`"${taken}" excludes "${key}"`)
      taken = key
    }
    draft[plan.name] = plan.isRepeated
      ? listOf(key, each, (one) => read(one, depth))
      : read(each, depth)
  }
  return draft
}

function listOf(name: string, value: unknown, read: (each: unknown) => unknown): unknown[] {
  if (!Array.isArray(value)) {
    throw new MalformedJsonError(`field ${name} is not a list but ${shapeOf(value)}`)
  }
  return value.map(read)
}

const readersByName = new Map<MessageName, ReadonlyMap<string, FieldReader>>()

/** Each field is accepted under its name and under the one with its words joined. */
function readersOf(message: MessageName): ReadonlyMap<string, FieldReader> {
  const known = readersByName.get(message)
  if (known) return known
  const made = new Map<string, FieldReader>()
  for (const plan of fieldsOf(message)) {
    const name = jsonNameOf(message, plan.name)
    const field = { plan, read: readerOf(message, plan, name) }
    made.set(name, field)
    made.set(joinedName(name), field)
  }
  readersByName.set(message, made)
  return made
}

function readerOf(message: MessageName, plan: FieldPlan, name: string): FieldReader['read'] {
  const inner = plan.message
  if (inner !== undefined) return (value, depth) => draftOf(inner, value, depth + 1)
  const names = enumNames[`${message}.${plan.name}`]
  if (names) return (value) => enumOf(names, name, value)
  const read = scalars[plan.scalar ?? 'string']
  return (value) => {
    const found = read(value)
    if (found !== undefined) return found
    throw new MalformedJsonError(`field ${name} cannot be ${shapeOf(value)}`)
  }
}

/** An unknown name is skipped as an unknown field is. */
function enumOf(names: readonly string[], field: string, value: unknown): number {
  if (typeof value === 'string') return Math.max(0, names.indexOf(value))
  if (Number.isInteger(value)) return Number(value)
  throw new MalformedJsonError(`field ${field} cannot be ${shapeOf(value)}`)
}

/** They return undefined for a value of another kind. */
const scalars: Readonly<Record<Scalar, (value: unknown) => unknown>> = Object.freeze({
  bytes: bytesOf,
  int: (value) => wholeOf(value, asSigned),
  int64: (value) => wholeOf(value, asSigned),
  uint64: (value) => wholeOf(value, asUnsigned),
  bool: (value) => (typeof value === 'boolean' ? value : undefined),
  string: (value) => (typeof value === 'string' ? value : undefined),
})

const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/

function bytesOf(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'string' || !base64.test(value)) return undefined
  const unpadded = value.replace(/=+$/, '')
  if (unpadded.length % 4 === 1) return undefined
  return unpadded === value || value.length % 4 === 0 ? Buffer.from(value, 'base64') : undefined
}

const asSigned = (value: bigint): bigint => BigInt.asIntN(64, value)
const asUnsigned = (value: bigint): bigint => BigInt.asUintN(64, value)

/** Whole numbers may come as numbers or as texts. */
function wholeOf(value: unknown, clamp: (value: bigint) => bigint): bigint | undefined {
  const whole = typeof value === 'string' ? wholeText(value) : value
  if (typeof whole === 'number' && !Number.isSafeInteger(whole)) return undefined
  if (typeof whole !== 'number' && typeof whole !== 'bigint') return undefined
  const exact = BigInt(whole)
  return clamp(exact) === exact ? exact : undefined
}

function wholeText(text: string): bigint | number | undefined {
  if (/^-?[0-9]{1,20}$/.test(text)) return BigInt(text)
  return /^-?[0-9.]{1,20}(?:[eE][+-]?[0-9]{1,3})?$/.test(text) ? Number(text) : undefined
}

function shapeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
