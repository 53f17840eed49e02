import type { EventHead } from './event-head.ts'
import type { Framing } from './frame-splitter.ts'
import { readJsonHead } from './json-event.ts'
import { readProtobufHead } from './protobuf-event.ts'

/** Returns undefined if the frame is not an event as Kubernetes writes it. */
export function readEventHead(framing: Framing, frame: Buffer): EventHead | undefined {
  return framing === 'lines' ? readJsonHead(frame) : readProtobufHead(frame)
}
