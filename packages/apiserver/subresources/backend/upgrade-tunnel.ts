import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { StatusError } from '@skerry/api'
import { checkPeerSwitch, fieldsOfRaw, http1Head, peerHeadOf, PeerAnswerError } from '@skerry/base'
import { withoutSetHubCookies } from '../../contract/hub-cookies.ts'
import { statusOf, toStatusError } from '../../contract/status-answer.ts'
import type { UpgradeSocket } from '../../contract/subresource.ts'
import {
  backendError,
  sendToBackend,
  type BackendAnswer,
  type BackendRequest,
} from './backend-request.ts'

/**
 * Passes an HTTP Upgrade through to the backend and then bytes both ways, whatever their protocol
 * (SPDY/3.1, WebSocket). Each side may close its half first. Resolves when both are done. Owns the
 * client's socket and never throws; refusals are written to the client.
 */
export async function passUpgrade(
  request: BackendRequest,
  client: UpgradeSocket,
  signal: AbortSignal,
): Promise<void> {
  const { socket } = client
  // A client that leaves while nothing reads its socket must not crash the process.
  socket.on('error', () => undefined)
  socket.allowHalfOpen = true
  try {
    const answer = await sendToBackend(request, signal)
    if (answer.type === 'response') return await passResponse(answer.response, request, client)
    answer.socket.on('error', () => undefined)
    socket.write(switchedHead(answer, request))
    if (client.head.length > 0) answer.socket.write(client.head)
    await joinStreams(socket, answer.socket, signal)
  } catch (error) {
    writeRefusal(client, error)
  }
}

type Refused = Pick<UpgradeSocket, 'socket' | 'onRefused'>

/** Answers a refused upgrade, in the form of every other refusal. */
export function writeRefusal({ socket, onRefused }: Refused, error: unknown): void {
  const status = refusalOf(error)
  onRefused?.(status.code)
  if (socket.destroyed || socket.writableEnded) return
  const body = Buffer.from(JSON.stringify(statusOf(status)))
  endWith(socket, status.code, { 'content-type': 'application/json' }, body)
}

/** Does the same as writeRefusal where upstream answers in plain text. */
export function writePlainRefusal(
  { socket, onRefused }: Refused,
  status: number,
  text: string,
): void {
  onRefused?.(status)
  if (socket.destroyed || socket.writableEnded) return
  const type = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
  endWith(socket, status, type, Buffer.from(text))
}

function refusalOf(error: unknown): StatusError {
  return error instanceof PeerAnswerError ? toStatusError(error) : backendError(error)
}

function endWith(
  socket: Duplex,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): void {
  const framed = { ...headers, 'content-length': String(body.length), connection: 'close' }
  socket.write(http1Head(status, framed))
  socket.end(body)
}

/** The backend answered instead of switching protocols: the client gets that answer. */
async function passResponse(
  response: IncomingMessage,
  { host, method }: BackendRequest,
  { socket, onRefused }: Refused,
): Promise<void> {
  try {
    const { status, headers, hasBody } = peerHeadOf(response, { peer: peerAt(host), method })
    onRefused?.(status)
    const passed = withoutSetHubCookies(headers)
    socket.write(http1Head(status, { ...passed, connection: 'close' }))
    if (hasBody) return await pipeline(response, socket)
    socket.end()
  } finally {
    response.destroy()
  }
}

/** Throws PeerAnswerError if the backend switched to a protocol that was not requested. */
function switchedHead(
  { response, socket }: Extract<BackendAnswer, { type: 'upgrade' }>,
  { host, headers }: BackendRequest,
): Buffer {
  const { upgrade = '' } = headers
  try {
    const asked = { peer: peerAt(host), offered: String(upgrade) }
    const switched = checkPeerSwitch(fieldsOfRaw(response.rawHeaders), asked)
    return http1Head(101, withoutSetHubCookies(switched))
  } catch (error) {
    socket.destroy()
    throw error
  }
}

function peerAt(host: string): string {
  return `the backend at ${host}`
}

/**
 * Joins both directions until both ended, one broke, or the signal aborts; then both streams are
 * destroyed.
 */
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
      // The end of one direction does not end the other.
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
