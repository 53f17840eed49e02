import { MalformedProtobufError, ProtoReader, ProtoWriter } from '@skerry/base'
import type { EtcdLease, EtcdRecord } from './etcd-record.ts'

/** The mark of a delete, after the revision. */
const tombstone = 't'.charCodeAt(0)
const separator = '_'.charCodeAt(0)
const revisionBytes = 17
const numberMax = BigInt(Number.MAX_SAFE_INTEGER)
const noBytes = new Uint8Array(0)

/** Returns a key of the bucket `key`: revision and place within it, eight bytes each, and the mark of a delete. */
export function revisionKey(record: {
  revision: number
  sub: number
  isDeleted?: boolean
}): Buffer {
  const { revision, sub, isDeleted = false } = record
  const key = Buffer.alloc(isDeleted ? revisionBytes + 1 : revisionBytes)
  key.writeBigUInt64BE(BigInt(revision), 0)
  key[8] = separator
  key.writeBigUInt64BE(BigInt(sub), 9)
  if (isDeleted) key[revisionBytes] = tombstone
  return key
}

/** Returns undefined for bytes that are not such a key, and for a number above 2^53. */
export function readRevisionKey(
  key: Buffer,
): Pick<EtcdRecord, 'revision' | 'sub' | 'isDeleted'> | undefined {
  const isDeleted = key.length === revisionBytes + 1 && key[revisionBytes] === tombstone
  if (key.length !== revisionBytes && !isDeleted) return undefined
  const revision = key.readBigUInt64BE(0)
  const sub = key.readBigUInt64BE(9)
  if (key[8] !== separator || revision > numberMax || sub > numberMax) return undefined
  return { revision: Number(revision), sub: Number(sub), isDeleted }
}

/** mvccpb.KeyValue: key 1, create revision 2, mod revision 3, version 4, value 5, lease 6. */
export function keyValueOf(record: EtcdRecord, writer: ProtoWriter): Uint8Array {
  const { key, value, createRevision, revision, version, lease, isDeleted } = record
  writer.clear()
  if (!isDeleted) {
    if (lease !== 0n) {
      writer.varint64(lease)
      writer.tag(6, 0)
    }
    if (value.length > 0) bytesField(writer, 5, value)
    for (const [field, number] of [
      [4, version],
      [3, revision],
      [2, createRevision],
    ] as const) {
      writer.varint(number)
      writer.tag(field, 0)
    }
  }
  bytesField(writer, 1, key)
  return writer.done()
}

function bytesField(writer: ProtoWriter, field: number, value: Uint8Array): void {
  const mark = writer.length
  writer.raw(value)
  writer.close(field, mark)
}

/** Throws MalformedProtobufError. */
export function readKeyValue(
  bytes: Uint8Array,
): Omit<EtcdRecord, 'revision' | 'sub' | 'isDeleted'> & { modRevision: number } {
  const reader = new ProtoReader(bytes)
  const found = { modRevision: 0, createRevision: 0, version: 0, lease: 0n }
  let key: Uint8Array = noBytes
  let value: Uint8Array = noBytes
  for (let next = reader.next(); next; next = reader.next()) {
    const { field, wire } = next
    if (wire !== wires[field]) reader.skip(unknownWire(field, wire))
    else if (field === 1) key = reader.bytes()
    else if (field === 2) found.createRevision = reader.int()
    else if (field === 3) found.modRevision = reader.int()
    else if (field === 4) found.version = reader.int()
    else if (field === 5) value = reader.bytes()
    else found.lease = reader.int64()
  }
  return { ...found, key, value }
}

const wires: Readonly<Record<number, number>> = Object.freeze({
  1: 2,
  2: 0,
  3: 0,
  4: 0,
  5: 2,
  6: 0,
})

/** A field of a later etcd may be skipped, but not one of these with another type. */
function unknownWire(field: number, wire: number): number {
  if (wires[field] === undefined) return wire
  throw new MalformedProtobufError(`field ${field} has wire type ${wire}`)
}

/** leasepb.Lease: ID 1, TTL 2. The remaining time is left out: etcd gives each lease its whole time at a start. */
export function leaseValueOf({ id, ttlSeconds }: EtcdLease): Uint8Array {
  const writer = new ProtoWriter()
  writer.varint(ttlSeconds)
  writer.tag(2, 0)
  writer.varint64(id)
  writer.tag(1, 0)
  return writer.done()
}

export function leaseKeyOf({ id }: EtcdLease): Buffer {
  const key = Buffer.alloc(8)
  key.writeBigInt64BE(id)
  return key
}

/** Throws MalformedProtobufError. */
export function readLease(bytes: Uint8Array): EtcdLease {
  const reader = new ProtoReader(bytes)
  let id = 0n
  let ttlSeconds = 0
  for (let next = reader.next(); next; next = reader.next()) {
    if (next.field === 1 && next.wire === 0) id = reader.int64()
    else if (next.field === 2 && next.wire === 0) ttlSeconds = reader.int()
    else reader.skip(next.wire)
  }
  return { id, ttlSeconds }
}
