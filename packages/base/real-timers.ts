/**
 * Holds the only waits that no Clock measures, because a library or Node measures them by the
 * system's time. A test of such a wait must set a short one.
 */

/** Returns a gRPC deadline. The library compares it with the system's time, and sends the remaining time to the server. */
export function grpcDeadline(ms: number): number {
  return Date.now() + ms
}

/** A socket or an HTTP/2 session. */
export interface Silenceable {
  setTimeout(ms: number, onSilent?: () => void): unknown
  off(event: 'timeout', onSilent: () => void): unknown
}

/**
 * Calls `onSilent` whenever nothing was read or written for `ms`, until it is disposed. Node measures
 * this in its reads and writes; a Clock would need a timer for each chunk.
 */
export function whenSilent(socket: Silenceable, ms: number, onSilent: () => void): Disposable {
  socket.setTimeout(ms, onSilent)
  return {
    [Symbol.dispose]() {
      socket.off('timeout', onSilent)
      socket.setTimeout(0)
    },
  }
}

/** Removes the idle timeout that Node's HTTP server has set on the socket. */
export function allowSilence(socket: Pick<Silenceable, 'setTimeout'>): void {
  socket.setTimeout(0)
}
