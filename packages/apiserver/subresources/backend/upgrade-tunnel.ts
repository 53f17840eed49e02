import type { IncomingMessage } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StatusError } from '@skerry/api'
import type { UpgradeSocket } from '../../subresource.ts'
import { backendError, sendToBackend, type BackendRequest } from './backend-request.ts'

/**
 * Passes an HTTP Upgrade through to the backend and then bytes both ways, whatever protocol they
 * speak (SPDY/3.1, WebSocket). Each side may close its half first. Resolves when both are done;
 * owns the client's socket and never throws: refusals are written to the client.
 */
export async function passUpgrade(
  request: BackendRequest,
  client: UpgradeSocket,
  signal: AbortSignal,
): Promise<void> {
  const { socket } = client
  // A client that leaves while nothing reads its socket is no reason to crash.
  socket.on('error', () => undefined)
  socket.allowHalfOpen = true
  try {
    const answer = await sendToBackend(request, signal)
    if (answer.type === 'response') return await passResponse(answer.response, client)
    socket.write(headOf(answer.response))
    if (answer.head.length > 0) socket.write(answer.head)
    if (client.head.length > 0) answer.socket.write(client.head)
    await joinStreams(socket, answer.socket, signal)
  } catch (error) {
    writeRefusal(client, error)
  }
}

type Refused = Pick<UpgradeSocket, 'socket' | 'onRefused'>

/** Answers an upgrade that was refused, in the form of every other refusal. */
export function writeRefusal({ socket, onRefused }: Refused, error: unknown): void {
  const status = error instanceof StatusError ? error : backendError(error)
  onRefused?.(status.code)
  if (socket.destroyed || socket.writableEnded) return
  const body = Buffer.from(JSON.stringify(status.toStatus()))
  socket.write(
    `HTTP/1.1 ${status.code} ${STATUS_CODES[status.code] ?? 'Error'}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`,
  )
  socket.end(body)
}

/** As writeRefusal, where upstream answers in plain text. */
export function writePlainRefusal(
  { socket, onRefused }: Refused,
  status: number,
  text: string,
): void {
  onRefused?.(status)
  if (socket.destroyed || socket.writableEnded) return
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n` +
      'content-type: text/plain; charset=utf-8\r\nx-content-type-options: nosniff\r\n' +
      `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  )
}

/** The backend answered instead of switching protocols: the client gets that answer. */
async function passResponse(
  response: IncomingMessage,
  { socket, onRefused }: Refused,
): Promise<void> {
  onRefused?.(response.statusCode ?? 502)
  const kept = rawHeaders(response).filter(
    ([name]) => !['connection', 'transfer-encoding', 'keep-alive'].includes(name.toLowerCase()),
  )
  socket.write(headText(response, [...kept, ['connection', 'close']]))
  await pipeline(response, socket)
}

function headOf(response: IncomingMessage): string {
  return headText(response, rawHeaders(response))
}

function headText(response: IncomingMessage, headers: readonly (readonly string[])[]): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${response.statusCode} ${response.statusMessage}\r\n${lines.join('')}\r\n`
}

function rawHeaders({ rawHeaders: flat }: IncomingMessage): [name: string, value: string][] {
  return flat.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : [],
  )
}

/** Both directions until both ended, one broke, or the signal aborts; then both streams are gone. */
function joinStreams(client: Duplex, backend: Duplex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const streams = [client, backend]
    let finished = 0
    const finish = (): void => {
      signal.removeEventListener('abort', finish)
      for (const stream of streams) stream.destroy()
      resolve()
    }
    signal.addEventListener('abort', finish, { once: true })
    for (const stream of streams) {
      // An end in one direction says nothing about the other.
      stream.allowHalfOpen = true
      stream.on('error', finish).on('close', finish)
      stream.on('finish', () => {
        finished += 1
        if (finished === streams.length) finish()
      })
    }
    client.pipe(backend)
    backend.pipe(client)
  })
}
