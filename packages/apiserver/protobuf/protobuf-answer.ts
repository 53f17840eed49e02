import { giveWay, type Clock } from '@skerry/base'
import { isJsonObject, type ListMeta } from '@skerry/api'
import {
  createProtobufEncoder,
  envelope,
  lengthPrefix,
  type ProtobufEncoder,
} from './encode-object.ts'
import { loadMessages, messageName, type Messages } from './message-table.ts'

interface TypeName {
  readonly apiVersion: string
  readonly kind: string
}

let loaded: Promise<{ messages: Messages; encoder: ProtobufEncoder }> | undefined

async function loadEncoder() {
  const messages = await loadMessages()
  return { messages, encoder: createProtobufEncoder(messages) }
}

/** Encodes any built-in object with its envelope. Resolves to undefined if there is no protobuf form. */
export async function protobufValue(value: unknown): Promise<Uint8Array | undefined> {
  const { messages, encoder } = await (loaded ??= loadEncoder())
  return encoded(value, messages, encoder)
}

/** Does the same for callers that cannot wait for each object, e.g. a watch. */
export async function protobufFrames(): Promise<(type: string, object: unknown) => Uint8Array> {
  const { messages, encoder } = await (loaded ??= loadEncoder())
  return (type, object) => {
    const bytes = encoded(object, messages, encoder)
    if (!bytes) throw new TypeError('Cannot write a watch event: its object has no protobuf form')
    return encoder.watchEvent(type, bytes)
  }
}

function encoded(
  value: unknown,
  messages: Messages,
  encoder: ProtobufEncoder,
): Uint8Array | undefined {
  if (!isJsonObject(value)) return undefined
  const name = messageName(messages, typeOf(value))
  return name === undefined ? undefined : encoder.object(value, name)
}

function typeOf({ apiVersion, kind }: Record<string, unknown>): TypeName {
  return {
    apiVersion: typeof apiVersion === 'string' ? apiVersion : '',
    kind: typeof kind === 'string' ? kind : '',
  }
}

export interface ProtobufListOptions {
  readonly type: TypeName
  readonly metadata: ListMeta
  readonly items: { readonly count: number; at(index: number): Record<string, unknown> }
  readonly chunkBytes: number
  /** Other requests are served between two items. */
  readonly clock: Clock
}

/** Lengths precede content, so all items are encoded before the first byte is sent. */
export async function protobufList(options: ProtobufListOptions): Promise<Iterable<Uint8Array>> {
  const { type, metadata, items, chunkBytes, clock } = options
  const { messages, encoder } = await (loaded ??= loadEncoder())
  const itemName = listItemName(messages, type)
  const meta = encoder.message({ ...metadata }, listMeta)
  const parts: Uint8Array[] = [lengthPrefix(1, meta.length), meta]
  for (let at = 0; at < items.count; at += 1) {
    const item = encoder.message(items.at(at), itemName)
    parts.push(lengthPrefix(2, item.length), item)
    const others = giveWay(clock)
    if (others) await others
  }
  const bytes = parts.reduce((sum, part) => sum + part.length, 0)
  const { head, tail } = envelope(type, bytes)
  return chunked([head, ...parts, tail], chunkBytes)
}

const listMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta'

function listItemName(messages: Messages, type: TypeName): string {
  const name = messageName(messages, type) ?? ''
  const items = messages[name]?.find(([, field]) => field === 'items')
  if (!items)
    throw new TypeError(`Cannot encode ${type.kind}: it is not a list with a protobuf form`)
  return items[2]
}

function* chunked(parts: readonly Uint8Array[], chunkBytes: number): Generator<Uint8Array> {
  let pending: Uint8Array[] = []
  let bytes = 0
  for (const part of parts) {
    pending.push(part)
    bytes += part.length
    if (bytes < chunkBytes) continue
    yield Buffer.concat(pending, bytes)
    pending = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(pending, bytes)
}
