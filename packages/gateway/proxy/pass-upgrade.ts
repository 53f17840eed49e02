import { pipeline } from 'node:stream/promises'
import type { UpgradeSocket } from '@skerry/apiserver'
import { http1Head, messageOf } from '@skerry/base'
import { isSwitched, joinStreams, type TunnelSwitched, type TunnelUpgraded } from '@skerry/tunnel'
import type { Transfer } from './cluster-audit.ts'
import { answeredHeaders, switchedHeaders } from './forwarded-headers.ts'

interface Client extends UpgradeSocket {
  readonly auditId: string
}

/** Writes the edge's answer to an upgrade; then bytes pass both ways until both ends are done. */
export async function passUpgrade(
  answer: TunnelUpgraded,
  { socket, head, auditId, onRefused }: Client,
  transfer: Transfer,
): Promise<void> {
  if (isSwitched(answer)) return passSession(answer, { socket, head, auditId }, transfer)
  onRefused?.(answer.status)
  const headers = answeredHeaders(answer.headers)
  socket.write(http1Head(answer.status, { ...headers, 'audit-id': auditId, connection: 'close' }))
  const length = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
  const counting = async function* (body: AsyncIterable<Uint8Array>) {
    let bytes = 0
    for await (const piece of body) {
      bytes += piece.length
      if (bytes > length) throw new Error('the answer is longer than its content-length')
      transfer.bytesOut += piece.length
      yield piece
    }
  }
  await pipeline(answer.body, counting, socket).catch((error: unknown) => {
    transfer.end(messageOf(error))
  })
}

async function passSession(
  { headers, stream }: TunnelSwitched,
  { socket, head, auditId }: Client,
  transfer: Transfer,
): Promise<void> {
  const { upgrade = '' } = headers
  const kept = switchedHeaders(headers)
  const named = { ...kept, 'audit-id': auditId, connection: 'Upgrade', upgrade }
  socket.write(http1Head(101, named))
  if (head.length > 0) stream.write(head)
  transfer.bytesIn += head.length
  const joined = joinStreams(socket, stream)
  socket.on('data', (chunk: Uint8Array) => (transfer.bytesIn += chunk.length))
  stream.on('data', (chunk: Uint8Array) => (transfer.bytesOut += chunk.length))
  await joined
}
