import type { ClientRequest } from 'node:http'
import type { Clock } from '@skerry/base'

export interface ConnectLimit {
  readonly connectMs: number
  readonly clock: Pick<Clock, 'setTimer'>
}

/** Calls `onLate` if the request's new connection is not there in time. A kept one needs no time. */
export function limitConnectTime(
  request: ClientRequest,
  { connectMs, clock }: ConnectLimit,
  onLate: () => void,
): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return
    const timer = clock.setTimer(connectMs, onLate)
    const clear = (): void => timer[Symbol.dispose]()
    socket.once('connect', clear)
    socket.once('close', clear)
  })
}
