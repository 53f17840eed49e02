import type { Http2SecureServer, ServerHttp2Session } from 'node:http2'
import { TLSSocket } from 'node:tls'
import { whenSilent } from '@skerry/base'

/** Closes a session without streams after this time. Watches may be silent for long: one that has them is not idle. */
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
 * Closes connections over HTTP/1.1 that are idle for the server's `keepAliveTimeout`. The timer of a server that was
 * stalled fires before the requests that arrived meanwhile are read, and Node would close their connection: clients
 * do not repeat what may have been done. So the server reads once more first.
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
