import type { Http2SecureServer, ServerHttp2Session } from 'node:http2'
import { TLSSocket } from 'node:tls'
import { whenSilent } from '@skerry/base'

/**
 * Closes the session when it has been idle for this time. A session with streams is not idle,
 * because watches may be silent for a long time.
 */
export function closeWhenIdle(session: ServerHttp2Session, idleMs: number): void {
  let open = 0
  session.on('stream', (stream) => {
    open += 1
    stream.once('close', () => (open -= 1))
  })
  whenSilent(session, idleMs, () => {
    if (open === 0) session.close()
  })
}

/**
 * Closes HTTP/1.1 connections that are idle for the server's `keepAliveTimeout`. After a stall of the
 * server, the timer fires before the requests that arrived meanwhile are read. Node would then close
 * their connections, and clients do not repeat requests that may have been executed. The server
 * therefore reads once more first.
 */
export function closeUnused(server: Http2SecureServer): void {
  server.on('timeout', (connection: unknown) => {
    if (!(connection instanceof TLSSocket)) return
    const { bytesRead } = connection
    setImmediate(() => {
      if (connection.bytesRead === bytesRead) connection.destroy()
    })
  })
}
