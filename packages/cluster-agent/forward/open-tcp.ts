import { connect, type Socket } from 'node:net'
import { abortReason } from '@skerry/base'

/** Resolves with a connection whose ends may close their halves one after the other. */
export async function openTcp(
  address: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<Socket> {
  const tcp = connect({ ...address, allowHalfOpen: true, noDelay: true, keepAlive: true })
  await opened(tcp, 'connect', signal)
  // Until the stream is joined to the tunnel, nothing else listens for errors.
  tcp.on('error', () => undefined)
  return tcp
}

/** Waits for an event of a socket that is being opened. Destroys the socket if it fails or the signal aborts. */
export function opened(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      socket.off(event, onOpen).off('error', settle)
      signal.removeEventListener('abort', onAbort)
      if (error === undefined) return resolve()
      // A late error of an abandoned socket must not end the process.
      socket.on('error', () => undefined).destroy()
      reject(error)
    }
    const onOpen = (): void => settle()
    const onAbort = (): void => settle(abortReason(signal))
    socket.once(event, onOpen).once('error', settle)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}
