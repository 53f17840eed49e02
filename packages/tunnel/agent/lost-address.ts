import { networkInterfaces } from 'node:os'
import type { Duplex } from 'node:stream'
import type { Clock, Timer } from '@skerry/base'
import { addressTowards } from './address-towards.ts'
import { tunnelBounds } from '../limits-table.ts'

export interface LostAddressDeps {
  readonly clock: Pick<Clock, 'setTimer'>
  /**
   * Returns this machine's addresses, without those of interfaces that have no carrier. If omitted, the
   * kernel's.
   */
  readonly addresses?: () => ReadonlySet<string>
  /**
   * Resolves with the address from which the peer would be reached now; undefined if none. If omitted, by the
   * kernel's routes.
   */
  readonly towards?: (peer: string) => Promise<string | undefined>
}

const { lookMs } = tunnelBounds.lostAddress

/**
 * Ends a connection when this machine has moved to another network: its own address is gone, and the route to
 * the peer leaves from another one. Nothing reaches the old address then, and TCP would take long to report
 * it. Without such a route the connection stays, whatever other addresses exist (those of bridges for pods,
 * for example): a cable that is soon plugged in again has the same address.
 */
export function endWithAddress(
  socket: Duplex,
  { clock, addresses = ownAddresses, towards = addressTowards }: LostAddressDeps,
): void {
  const { own, peer } = endsOf(socket)
  if (own === undefined || peer === undefined || !addresses().has(own)) return
  let wasLost = false
  let timer: Timer
  const again = (isLost: boolean): void => {
    if (socket.destroyed) return
    // The address must be lost at two checks: one that is only being configured again is not lost.
    if (isLost && wasLost) {
      socket.destroy(new Error(`this machine has lost the address ${own}, and has another`))
      return
    }
    wasLost = isLost
    timer = clock.setTimer(lookMs, look)
  }
  const look = (): void => {
    if (addresses().has(own)) return again(false)
    const asked = towards(peer)
    void asked.then((now) => again(now !== undefined && now !== own))
  }
  timer = clock.setTimer(lookMs, look)
  socket.once('close', () => timer[Symbol.dispose]())
}

/**
 * Sockets, and TLS connections over a socket, have both addresses; a connection inside another one has
 * neither.
 */
function endsOf(socket: Duplex): { own?: string; peer?: string } {
  if (!('localAddress' in socket && 'remoteAddress' in socket)) return {}
  const { localAddress: own, remoteAddress: peer } = socket
  if (typeof own !== 'string' || typeof peer !== 'string') return {}
  return { own: plain(own), peer: plain(peer) }
}

/** Removes the prefix that dual-stack sockets put before IPv4 addresses. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}

function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return new Set(all.filter(({ internal }) => !internal).map(({ address }) => address))
}
