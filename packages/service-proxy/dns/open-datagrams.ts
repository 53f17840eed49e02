import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { asError, type Logger } from '@skerry/base'

/**
 * Opens a UDP port (0 picks a free one) and answers each datagram with the result of `respond`;
 * undefined sends nothing. `respond` must not reject. Rejects if the port cannot be opened.
 */
export async function openDatagrams(
  { address, port }: { address: string; port: number },
  respond: (bytes: Buffer, isTcp: false) => Promise<Buffer | undefined>,
  log: Logger,
): Promise<Socket> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.bind(port, address, () => {
      socket.off('error', reject)
      resolve()
    })
  })
  // Without a listener a single kernel error would end the process.
  socket.on('error', (error) => log.debug('UDP socket failed', { error }))
  socket.on('message', (bytes: Buffer, from: RemoteInfo) => {
    // A pod with a raw socket can write any source; port 0 (RFC 768: none) cannot be answered.
    if (from.port === 0) return
    const sent = respond(bytes, false).then((answer) => {
      if (answer === undefined) return
      // The source may also be an address that nothing can be sent to, such as a broadcast address.
      socket.send(answer, from.port, from.address, (error) => {
        if (error) log.debug('DNS answer not sent', { to: from.address, error })
      })
    })
    // The socket may have been closed while the answer was looked up, which it reports by throwing.
    sent.catch((error: unknown) => {
      log.debug('DNS answer not sent', { error: asError(error) })
    })
  })
  return socket
}
