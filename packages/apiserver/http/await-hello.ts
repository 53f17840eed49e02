import type { Duplex } from 'node:stream'
import { patientProtocol, type Clock } from '@skerry/base'
import { parseClientHello } from './client-hello.ts'
import { onFirstBytes } from './first-bytes.ts'

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
  const wait = { ms: helloMs, clock, onLate: () => void connection.destroy() }
  onFirstBytes(connection, wait, (bytes, end) => {
    const hello = parseClientHello(bytes)
    if (!hello.isWhole) return
    end(bytes)
    onHello(hello.protocols.includes(patientProtocol))
  })
}
