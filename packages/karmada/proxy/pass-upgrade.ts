import { STATUS_CODES } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { UpgradeSocket } from '@skerry/apiserver'
import {
  isSwitched,
  joinStreams,
  type TunnelHeaders,
  type TunnelSwitched,
  type TunnelUpgraded,
} from '@skerry/tunnel'
import type { Transfer } from './cluster-audit.ts'
import { answeredHeaders } from './forwarded-headers.ts'

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
  socket.write(headText(answer.status, { ...headers, 'audit-id': auditId, connection: 'close' }))
  const counting = async function* (body: AsyncIterable<Uint8Array>) {
    for await (const piece of body) {
      transfer.bytesOut += piece.length
      yield piece
    }
  }
  await pipeline(answer.body, counting, socket).catch((error: unknown) => {
    transfer.end(error instanceof Error ? error.message : String(error))
  })
}

async function passSession(
  { headers, stream }: TunnelSwitched,
  { socket, head, auditId }: Client,
  transfer: Transfer,
): Promise<void> {
  const { upgrade = '' } = headers
  const kept = answeredHeaders(headers)
  const named = { ...kept, 'audit-id': auditId, connection: 'Upgrade', upgrade }
  socket.write(headText(101, named))
  if (head.length > 0) stream.write(head)
  transfer.bytesIn += head.length
  const joined = joinStreams(socket, stream)
  socket.on('data', (chunk: Uint8Array) => (transfer.bytesIn += chunk.length))
  stream.on('data', (chunk: Uint8Array) => (transfer.bytesOut += chunk.length))
  await joined
}

/** The tunnel has checked names and values: no line breaks in them. */
function headText(status: number, headers: TunnelHeaders): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one) => `${name}: ${one}\r\n`),
  )
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`
}
