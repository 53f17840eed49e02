import type { Duplex } from 'node:stream'
import type { Clock } from '@skerry/base'

export interface FirstBytesWait {
  /** The time for the bytes to arrive. */
  readonly ms: number
  readonly clock: Pick<Clock, 'setTimer'>
  readonly onLate: () => void
}

/**
 * Reads the first bytes of a connection that nobody has read from. `onBytes` gets all that have come, again with each part
 * that follows, until it calls `end` with those that are left for the next reader.
 */
export function onFirstBytes(
  connection: Duplex,
  { ms, clock, onLate }: FirstBytesWait,
  onBytes: (bytes: Buffer, end: (rest: Buffer) => void) => void,
): void {
  let bytes: Buffer = Buffer.alloc(0)
  const onReadable = (): void => {
    for (let part = readPart(connection); part; part = readPart(connection)) {
      bytes = bytes.length === 0 ? part : Buffer.concat([bytes, part])
    }
    onBytes(bytes, end)
  }
  const timer = clock.setTimer(ms, () => {
    release()
    onLate()
  })
  const release = (): void => {
    timer[Symbol.dispose]()
    connection.off('readable', onReadable)
    connection.off('close', release)
  }
  const end = (rest: Buffer): void => {
    release()
    if (rest.length > 0) connection.unshift(rest)
  }
  connection.once('close', release)
  connection.on('readable', onReadable)
}

function readPart(connection: Duplex): Buffer | undefined {
  // A connection without an encoding returns buffers, or null if there are none.
  const part: unknown = connection.read()
  return Buffer.isBuffer(part) ? part : undefined
}
