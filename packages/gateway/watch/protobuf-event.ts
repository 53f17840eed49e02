import { lengthPrefix } from '@skerry/apiserver'
import { initialEndAnnotation, type EventHead } from './event-head.ts'

/** The field numbers of meta/v1 and runtime in generated.proto. */
const fields = Object.freeze({
  eventType: 1,
  eventObject: 2,
  rawExtensionRaw: 1,
  unknownRaw: 2,
  /** The fields of every kind that has metadata. */
  objectMetadata: 1,
  resourceVersion: 6,
  annotations: 12,
  mapKey: 1,
  mapValue: 2,
})
const magic = Buffer.of(0x6b, 0x38, 0x73, 0x00)
const lengthBytes = 4

/** Reads one length-delimited WatchEvent, whose object is in the envelope of Kubernetes' protobuf. */
export function readProtobufHead(frame: Buffer): EventHead | undefined {
  const event = frame.subarray(lengthBytes)
  const type = findBytes(event, fields.eventType)?.toString('utf8')
  const extension = findBytes(event, fields.eventObject)
  const object = extension && findBytes(extension, fields.rawExtensionRaw)
  if (type === undefined || !object?.subarray(0, magic.length).equals(magic)) return undefined
  const message = findBytes(object.subarray(magic.length), fields.unknownRaw)
  const metadata = message && type !== 'ERROR' && findBytes(message, fields.objectMetadata)
  if (!metadata) return { type, isInitialEnd: false }
  const version = findBytes(metadata, fields.resourceVersion)?.toString('utf8')
  const head = version === undefined ? { type } : { type, version }
  return { ...head, isInitialEnd: type === 'BOOKMARK' && isInitialEnd(metadata) }
}

/** An ERROR event of a Status that is in its envelope already. */
export function protobufErrorFrame(status: Uint8Array): Buffer {
  const raw = field(fields.rawExtensionRaw, status)
  const event = Buffer.concat([
    field(fields.eventType, Buffer.from('ERROR')),
    field(fields.eventObject, raw),
  ])
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32BE(event.length)
  return Buffer.concat([length, event])
}

function isInitialEnd(metadata: Buffer): boolean {
  for (const [number, entry] of bytesFields(metadata)) {
    if (number !== fields.annotations) continue
    const isKey = findBytes(entry, fields.mapKey)?.toString('utf8') === initialEndAnnotation
    if (isKey) return findBytes(entry, fields.mapValue)?.toString('utf8') === 'true'
  }
  return false
}

function findBytes(message: Buffer, wanted: number): Buffer | undefined {
  for (const [number, bytes] of bytesFields(message)) if (number === wanted) return bytes
  return undefined
}

/** The length-delimited fields, as far as the message can be read. */
function* bytesFields(message: Buffer): Generator<[number: number, bytes: Buffer]> {
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 0; shift < 10; shift += 1) {
      const byte = message[at]
      if (byte === undefined) return Number.NaN
      at += 1
      value += (byte & 0x7f) * 2 ** (7 * shift)
      if (byte < 0x80) return value
    }
    return Number.NaN
  }
  while (at < message.length) {
    const tag = varint()
    switch (tag % 8) {
      case 0:
        varint()
        break
      case 1:
        at += 8
        break
      case 5:
        at += 4
        break
      case 2: {
        const length = varint()
        const end = at + length
        if (!(end <= message.length)) return
        yield [Math.floor(tag / 8), message.subarray(at, end)]
        at = end
        break
      }
      default:
        return
    }
  }
}

function field(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([lengthPrefix(number, bytes.length), bytes])
}
