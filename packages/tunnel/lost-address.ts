import { networkInterfaces } from 'node:os'
import type { Duplex } from 'node:stream'
import type { Clock, Timer } from '@skerry/base'

/** Addresses of this machine by which it may reach others now. */
export type OwnAddresses = () => ReadonlySet<string>

export interface LostAddressDeps {
  readonly clock: Pick<Clock, 'setTimer'>
  /** Absent: as the kernel has them; an interface without a carrier has none. */
  readonly addresses?: OwnAddresses
}

const lookMs = 2_000

/**
 * Ends a connection whose own address has gone to where there is another one: nothing comes to the old one any more,
 * and TCP would not say so for long. Where there is no other, it stays: a cable that is back soon has the same.
 */
export function endWithAddress(
  socket: Duplex,
  { clock, addresses = ownAddresses }: LostAddressDeps,
): void {
  const address = localAddressOf(socket)
  if (address === undefined || !addresses().has(address)) return
  let wasLost = false
  let timer: Timer
  const look = (): void => {
    const now = addresses()
    const isLost = now.size > 0 && !now.has(address)
    // Twice: one that is only set anew is not lost.
    if (isLost && wasLost) {
      socket.destroy(new Error(`this machine has lost the address ${address}, and has another`))
      return
    }
    wasLost = isLost
    timer = clock.setTimer(lookMs, look)
  }
  timer = clock.setTimer(lookMs, look)
  socket.once('close', () => timer[Symbol.dispose]())
}

function localAddressOf(socket: Duplex): string | undefined {
  // Sockets and TLS connections over one have it; what goes inside another connection does not.
  return 'localAddress' in socket && typeof socket.localAddress === 'string'
    ? socket.localAddress.replace(/^::ffff:(?=\d+\.)/i, '')
    : undefined
}

function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return new Set(all.filter(({ internal }) => !internal).map(({ address }) => address))
}
