import { ProtoReader, ProtoWriter } from '@skerry/base'

/** One message. It holds bytes by field number; maps are in `annotations`, numbers in `numbers`. */
export interface KmsMessage {
  readonly bytes: ReadonlyMap<number, Uint8Array>
  readonly numbers: ReadonlyMap<number, number>
  readonly annotations: Annotations
}

/** Data that the plugin needs back when it decrypts. */
export type Annotations = ReadonlyMap<string, Uint8Array>

/** Reads a message of KMS v2. These have bytes, texts, one number and one map from text to bytes. */
export function readMessage(data: Uint8Array, annotationsField = 0): KmsMessage {
  const bytes = new Map<number, Uint8Array>()
  const numbers = new Map<number, number>()
  const annotations = new Map<string, Uint8Array>()
  const reader = new ProtoReader(data)
  for (let tag = reader.next(); tag; tag = reader.next()) {
    if (tag.wire === 0) numbers.set(tag.field, reader.int())
    else if (tag.wire !== 2) reader.skip(tag.wire)
    else if (tag.field === annotationsField) {
      const entry = readMessage(reader.bytes())
      annotations.set(textOf(entry.bytes.get(1)), entry.bytes.get(2) ?? new Uint8Array(0))
    } else bytes.set(tag.field, reader.bytes())
  }
  return { bytes, numbers, annotations }
}

export function textOf(bytes: Uint8Array | undefined): string {
  return bytes ? Buffer.from(bytes).toString('utf8') : ''
}

/** Writes a message from values by field number. Empty values are left out. */
export function writeMessage(
  fields: Readonly<Record<number, string | Uint8Array | number | Annotations>>,
): Buffer {
  const writer = new ProtoWriter()
  for (const [key, value] of Object.entries(fields).toReversed()) {
    const field = Number(key)
    if (typeof value === 'number') {
      if (value === 0) continue
      writer.varint(value)
      writer.tag(field, 0)
    } else if (typeof value === 'string' || value instanceof Uint8Array) {
      if (value.length > 0) writeBytes(writer, field, value)
    } else {
      for (const [name, content] of [...value].toReversed()) {
        const mark = writer.length
        writeBytes(writer, 2, content)
        writeBytes(writer, 1, name)
        writer.close(field, mark)
      }
    }
  }
  return Buffer.from(writer.done())
}

function writeBytes(writer: ProtoWriter, field: number, value: string | Uint8Array): void {
  const mark = writer.length
  if (typeof value === 'string') writer.text(value)
  else writer.raw(value)
  writer.close(field, mark)
}
