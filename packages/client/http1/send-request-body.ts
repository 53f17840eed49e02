import { Readable, type Duplex } from 'node:stream'

export interface BodySending {
  /** Undefined: in pieces that each say how long they are. */
  readonly lengthBytes: number | undefined
  readonly onSent: () => void
  /** Half a body must not look whole: the connection is of no more use. */
  readonly onFault: (error: Error) => void
}

/**
 * Sends a body at the pace of the socket. The result stops it, and leaves the rest of a stream to whoever gave it.
 * More or fewer bytes than the length says are a fault: the rest would be read as another request.
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
  // A piece without bytes would be the end.
  if (chunk.length === 0) return true
  socket.cork()
  socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1')
  socket.write(chunk)
  const isTaking = socket.write('\r\n', 'latin1')
  socket.uncork()
  return isTaking
}

function tooLong(lengthBytes: number): Error {
  return new Error(`the request has more than the ${lengthBytes} bytes that it names`)
}

function tooShort(lengthBytes: number): Error {
  return new Error(`the request has fewer than the ${lengthBytes} bytes that it names`)
}

function ignore(): void {}
