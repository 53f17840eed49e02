import type { Duplex } from 'node:stream'
import { patientProtocol, type Clock } from '@skerry/base'
import { parseClientHello } from './client-hello.ts'

export interface HelloDeps {
  /** The time for the client to send its hello. */
  readonly helloMs: number
  readonly clock: Pick<Clock, 'setTimer'>
}

/**
 * Peeks at the client's first bytes on a connection that nobody has read from, leaves them for TLS,
 * and reports whether the client is patient. A silent connection occupies no turn, and is closed.
 */
export function awaitHello(
  connection: Duplex,
  { helloMs, clock }: HelloDeps,
  onHello: (isPatient: boolean) => void,
): void {
  let bytes: Buffer = Buffer.alloc(0)
  const onReadable = (): void => {
    for (let part = readPart(connection); part; part = readPart(connection)) {
      bytes = bytes.length === 0 ? part : Buffer.concat([bytes, part])
    }
    const hello = parseClientHello(bytes)
    if (!hello.isWhole) return
    release()
    if (bytes.length > 0) connection.unshift(bytes)
    onHello(hello.protocols.includes(patientProtocol))
  }
  const timer = clock.setTimer(helloMs, () => void connection.destroy())
  const release = (): void => {
    timer[Symbol.dispose]()
    connection.off('readable', onReadable)
    connection.off('close', release)
  }
  connection.once('close', release)
  connection.on('readable', onReadable)
}

function readPart(connection: Duplex): Buffer | undefined {
  // A connection without an encoding returns buffers, or null if there are none.
  const part: unknown = connection.read()
  return Buffer.isBuffer(part) ? part : undefined
}
