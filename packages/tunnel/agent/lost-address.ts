import { networkInterfaces } from 'node:os'
import type { Duplex } from 'node:stream'
import type { Clock, Timer } from '@skerry/base'
import { addressTowards } from './address-towards.ts'

export interface LostAddressDeps {
  readonly clock: Pick<Clock, 'setTimer'>
  /** Of this machine, those of interfaces without a carrier not among them. Absent: as the kernel has them. */
  readonly addresses?: () => ReadonlySet<string>
  /** By which the peer would be reached now; undefined: by none. Absent: as the kernel would. */
  readonly towards?: (peer: string) => Promise<string | undefined>
}

const lookMs = 2_000

/**
 * Ends a connection when this machine has gone to another network: its own address is of no use any more, and the
 * way to the peer leads out from another one. Nothing comes to the old one then, and TCP would not say so for long.
 * Where there is no such way it stays, whatever other addresses there are (those of bridges for pods, say): a cable
 * that is back soon has the same address.
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
    // Twice: one that is only set anew is not lost.
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

/** Sockets and TLS connections over one have both; what goes inside another connection has neither. */
function endsOf(socket: Duplex): { own?: string; peer?: string } {
  if (!('localAddress' in socket && 'remoteAddress' in socket)) return {}
  const { localAddress: own, remoteAddress: peer } = socket
  if (typeof own !== 'string' || typeof peer !== 'string') return {}
  return { own: plain(own), peer: plain(peer) }
}

/** Not as IPv4 is written where a socket speaks both. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}

function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return new Set(all.filter(({ internal }) => !internal).map(({ address }) => address))
}
