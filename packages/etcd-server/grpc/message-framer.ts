import { ProtoWriter } from '@skerry/base'
import { etcdServerBounds } from '../limits-table.ts'
import type { MessageDraft, MessageName } from '../wire/etcd-messages-table.ts'
import { encodeMessage } from '../wire/message-codec.ts'
import { prefixBytes } from './message-splitter.ts'

const { keptBytes } = etcdServerBounds.messageFramer

/** Writes messages as gRPC frames them, one after the other in the same memory. */
export class MessageFramer {
  #writer = new ProtoWriter()
  readonly #prefix = Buffer.alloc(prefixBytes)

  /** Returns a length of four bytes after a flag, then the message. */
  frame<Name extends MessageName>(name: Name, message: MessageDraft<Name>): Uint8Array {
    const writer = encodeMessage(name, message, this.#writer)
    this.#prefix.writeUInt32BE(writer.length, 1)
    writer.raw(this.#prefix)
    const frame = Buffer.from(writer.view())
    if (frame.length > keptBytes) this.#writer = new ProtoWriter()
    else writer.clear()
    return frame
  }
}

export function prefixOf(bytes: number): Buffer {
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(bytes, 1)
  return prefix
}
