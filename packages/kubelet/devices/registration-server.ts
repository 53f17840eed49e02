import { mkdir, rm } from 'node:fs/promises'
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { dirname } from 'node:path'
import { status } from '@grpc/grpc-js'
import { messageOf } from '@skerry/base'
import { loadMethods } from '../cri/grpc-channel.ts'
import { kubeletBounds } from '../limits-table.ts'
import { deviceRegistration } from './device-schema-table.ts'
import type { PluginOptions } from './device-plugin.ts'

const { registrationBytesMax, sessionsMax, prefixBytes } = kubeletBounds.devices

/** The words with which a plugin registers. */
export interface RegisterRequest {
  readonly version: string
  /** The name of its socket, in the directory of this node's socket. */
  readonly endpoint: string
  readonly resourceName: string
  readonly options: PluginOptions | null
}

const answerHead = Object.freeze({ ':status': 200, 'content-type': 'application/grpc' })

/**
 * Serves the socket at which device plugins register: gRPC's one method over HTTP/2, because the server of its library is
 * not part of the program. Plugins watch for the socket: one that has just been made tells them to register again.
 * `onRegister` throws to refuse.
 */
export async function serveRegistration(
  path: string,
  onRegister: (request: RegisterRequest) => void,
): Promise<AsyncDisposable> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 })
  await rm(path, { force: true })
  const method = loadMethods(deviceRegistration)['Register']
  if (!method) throw new RangeError('Cannot serve registrations: there is no method Register')
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer()
  server.on('session', (session) => {
    session.on('error', () => session.destroy())
    session.on('close', () => sessions.delete(session))
    if (sessions.size >= sessionsMax) session.destroy()
    else sessions.add(session)
  })
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => stream.destroy())
    if (headers[':path'] !== method.path) {
      return refuse(stream, status.UNIMPLEMENTED, `unknown method ${headers[':path']}`)
    }
    receive(stream, (message) => {
      try {
        // The schema table defines this request.
        onRegister(method.requestDeserialize(message) as RegisterRequest)
      } catch (error) {
        return refuse(stream, status.UNKNOWN, messageOf(error))
      }
      stream.respond(answerHead, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(status.OK) }))
      stream.end(Buffer.alloc(prefixBytes))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  return {
    async [Symbol.asyncDispose]() {
      server.close()
      for (const session of sessions) session.destroy()
      await rm(path, { force: true })
    },
  }
}

/** Reads one message without compression. */
function receive(stream: ServerHttp2Stream, onMessage: (message: Buffer) => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= registrationBytesMax) chunks.push(chunk)
    else if (!stream.headersSent)
      refuse(stream, status.INVALID_ARGUMENT, 'the request is too large')
  })
  stream.on('end', () => {
    if (stream.headersSent) return
    const body = Buffer.concat(chunks)
    const isWhole =
      body.length >= prefixBytes &&
      body[0] === 0 &&
      body.readUInt32BE(1) === body.length - prefixBytes
    if (isWhole) onMessage(body.subarray(prefixBytes))
    else refuse(stream, status.INVALID_ARGUMENT, 'the request is not one plain message')
  })
}

/** Answers with the status alone. gRPC writes its message with per cents, as addresses are written. */
function refuse(stream: ServerHttp2Stream, code: number, message: string): void {
  const words = { 'grpc-status': String(code), 'grpc-message': encodeURIComponent(message) }
  stream.respond({ ...answerHead, ...words }, { endStream: true })
}
