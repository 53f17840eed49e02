import type { AnswerStream } from '../grpc/grpc-call.ts'
import { etcdServerBounds } from '../limits-table.ts'
import { headerOf, type ServiceContext } from './service-context.ts'

const { chunkBytes } = etcdServerBounds.sendSnapshot

/** Sends the store as of one revision, and its checksum after it, in etcd's format. */
export async function sendSnapshot(
  { engine, member, snapshots }: ServiceContext,
  answers: AnswerStream<'SnapshotResponse'>,
): Promise<void> {
  await using snapshot = await snapshots.make(answers.signal)
  const { file, bytes, revision } = snapshot
  for (let at = 0; at < bytes;) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes, at)
    at += bytesRead
    const isTaken = answers.send({
      header: headerOf(engine, revision),
      remainingBytes: bytes - at,
      blob: buffer.subarray(0, bytesRead),
      version: member.version,
    })
    if (!isTaken) await answers.whenDrained()
    answers.signal.throwIfAborted()
  }
}
