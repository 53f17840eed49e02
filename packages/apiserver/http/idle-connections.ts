import type { EventEmitter } from 'node:events'
import type { ServerHttp2Session } from 'node:http2'
import { Socket } from 'node:net'
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
export function closeUnused(server: Pick<EventEmitter, 'on'>): void {
  server.on('timeout', (connection: unknown) => {
    if (!(connection instanceof Socket)) return
    const { bytesRead } = connection
    const close = (): void => {
      if (connection.bytesRead === bytesRead) connection.destroy()
    }
    // The second follows a whole pass of the event loop, in which it reads what has arrived.
    setImmediate(() => setImmediate(close))
  })
}
