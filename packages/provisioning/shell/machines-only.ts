import { lookup } from 'node:dns/promises'
import { messageOf, sameAddressAs, unlessAborted, withTimeout, type Clock } from '@skerry/base'
import { ShellError, type ShellRequest } from '../contract/shell.ts'
import { whyNoMachine } from '../kind/unfit-addresses.ts'
import { provisioningBounds } from '../limits-table.ts'

const { connectMsMax: ms } = provisioningBounds.shell
/** Servers of names may be other people's, and as slow as these like. */
const late = `no answer in ${ms / 1_000} s`

export interface MachinesOnlyDeps {
  readonly clock: Clock
  /** Resolves with every IP address of a DNS name. If omitted, the system's resolver is asked. */
  readonly resolve?: (name: string) => Promise<readonly string[]>
  /** Returns the addresses of the hub itself, at which no machine can be. */
  readonly ownAddresses: () => readonly string[]
}

/**
 * Returns a way to machines that never leads to the hub itself, to link-local services such as a cloud's metadata,
 * or to many machines at once. A name is resolved once, and the address that was judged is dialled. The same holds
 * behind a jump host: its resolver could name its own loopback. Only the hub's own addresses may be a machine's there,
 * in a network that has the same numbers. The far end of some ways resolves and judges by itself.
 */
export function machinesOnly<Opened>(
  open: (request: ShellRequest, signal: AbortSignal) => Promise<Opened>,
  { clock, resolve = addressesOf, ownAddresses }: MachinesOnlyDeps,
): (request: ShellRequest, signal: AbortSignal) => Promise<Opened> {
  return async (request, signal) => {
    const { address, way } = request
    if (way?.judgesAddress === true) return open(request, signal)
    let resolved: readonly string[]
    try {
      resolved = await withTimeout({ clock, ms, message: late }, signal, (scope) =>
        unlessAborted(resolve(address), scope),
      )
    } catch (error) {
      signal.throwIfAborted()
      const text = `Cannot resolve ${address}: ${messageOf(error)}; correct the name, or use an IP address`
      throw new ShellError('unreachable', text, { cause: error })
    }
    const [ip] = resolved
    if (ip === undefined)
      throw new ShellError('unreachable', `Cannot resolve ${address}: no address`)
    for (const each of resolved) {
      const isOwn = way === undefined && ownAddresses().some(sameAddressAs(each))
      const why = isOwn ? 'is on the hub itself' : whyNoMachine(each)
      if (why === undefined) continue
      throw new ShellError('refused', `Cannot open ${address}: ${each} ${why}; name a machine`)
    }
    return open({ ...request, ip }, signal)
  }
}

async function addressesOf(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true, order: 'ipv4first' })
  return found.map(({ address }) => address)
}
