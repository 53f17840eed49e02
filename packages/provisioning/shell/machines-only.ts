import { lookup } from 'node:dns/promises'
import { messageOf, sameAddressAs, unlessAborted } from '@skerry/base'
import { ShellError, type OpenShell } from '../contract/shell.ts'
import { whyNoMachine } from '../kind/unfit-addresses.ts'

export interface MachinesOnlyDeps {
  /** Resolves with every IP address of a DNS name. If omitted, the system's resolver is asked. */
  readonly resolve?: (name: string) => Promise<readonly string[]>
  /** Returns the addresses of the hub itself, at which no machine can be. */
  readonly ownAddresses: () => readonly string[]
}

/**
 * Returns a way to machines that never leads to the hub itself, to link-local services such as a cloud's metadata,
 * or to many machines at once. A name is resolved once, and the address that was judged is dialled.
 */
export function machinesOnly(
  open: OpenShell,
  { resolve = addressesOf, ownAddresses }: MachinesOnlyDeps,
): OpenShell {
  return async (request, signal) => {
    const { address } = request
    let resolved: readonly string[]
    try {
      resolved = await unlessAborted(resolve(address), signal)
    } catch (error) {
      signal.throwIfAborted()
      const text = `Cannot resolve ${address}: ${messageOf(error)}; correct the name, or use an IP address`
      throw new ShellError('unreachable', text, { cause: error })
    }
    const [ip] = resolved
    if (ip === undefined)
      throw new ShellError('unreachable', `Cannot resolve ${address}: no address`)
    for (const each of resolved) {
      const isOwn = ownAddresses().some(sameAddressAs(each))
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
