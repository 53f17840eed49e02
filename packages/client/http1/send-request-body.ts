import { Readable, type Duplex } from 'node:stream'

export interface BodySending {
  /** The length of the body, or undefined if it is sent in chunks. */
  readonly lengthBytes: number | undefined
  readonly onSent: () => void
  /**
   * Called if the body is incomplete. It must not look complete, so the connection cannot be used
   * any more.
   */
  readonly onFault: (error: Error) => void
}

/**
 * Sends a body at the pace of the socket. Call the result to stop; the rest of a stream is left to
 * its owner. More or fewer bytes than the length are an error, because the rest would be read as
 * another request.
 */
export function sendRequestBody(
  body: AsyncIterable<Uint8Array>,
  socket: Duplex,
  { lengthBytes, onSent, onFault }: BodySending,
): () => void {
  const source = body instanceof Readable ? body : Readable.from(body)
  const isOwn = source !== body
  let sentBytes = 0
  const onData = (chunk: Uint8Array): void => {
    sentBytes += chunk.length
    if (lengthBytes !== undefined && sentBytes > lengthBytes) return fail(tooLong(lengthBytes))
    if (!write(socket, chunk, lengthBytes === undefined)) source.pause()
  }
  const onDrain = (): void => void source.resume()
  const onEnd = (): void => {
    if (lengthBytes !== undefined && sentBytes < lengthBytes) return fail(tooShort(lengthBytes))
    if (lengthBytes === undefined) socket.write('0\r\n\r\n', 'latin1')
    stop()
    onSent()
  }
  const onClose = (): void => fail(new Error('the request broke off'))
  const fail = (error: Error): void => {
    stop()
    onFault(error)
  }
  const stop = (): void => {
    source.off('data', onData).off('end', onEnd).off('close', onClose).off('error', fail)
    socket.off('drain', onDrain)
    if (!isOwn) return
    source.on('error', ignore)
    source.destroy()
  }
  if (source.destroyed) {
    onClose()
    return ignore
  }
  socket.on('drain', onDrain)
  source.on('end', onEnd).on('close', onClose).on('error', fail).on('data', onData)
  return stop
}

function write(socket: Duplex, chunk: Uint8Array, isPiece: boolean): boolean {
  if (!isPiece) return socket.write(chunk)
  // An empty chunk would mean the end.
  if (chunk.length === 0) return true
  socket.cork()
  socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1')
  socket.write(chunk)
  const isTaking = socket.write('\r\n', 'latin1')
  socket.uncork()
  return isTaking
}

function tooLong(lengthBytes: number): Error {
  return new Error(`the request has more than the ${lengthBytes} bytes that it declares`)
}

function tooShort(lengthBytes: number): Error {
  return new Error(`the request has fewer than the ${lengthBytes} bytes that it declares`)
}

function ignore(): void {}
