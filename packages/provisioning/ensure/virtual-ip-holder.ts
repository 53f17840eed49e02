import type { PlannedMachine } from '../kind/machine-addresses.ts'
import { ShellError, type OwnShell } from '../contract/shell.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import { provisioningBounds } from '../limits-table.ts'
import { holderScript } from './holder-script.ts'
import { isLeaving } from './node-name.ts'

const { holderCharsMax, holderMsMax } = provisioningBounds.preflight

/** Returns what is wrong if something else than a master of this cluster has the address that its masters shall share. */
export async function virtualIpFinding(
  context: MachineContext,
  { isMember }: { readonly isMember: boolean },
): Promise<string | undefined> {
  const { edge, machine, machines, shell, signal } = context
  const { type, address = '' } = edge.spec.highAvailability ?? {}
  if (type !== 'VirtualIP' || machine.role !== 'Master') return undefined
  const field = `spec.highAvailability.address ${address}`
  const holder = await holderOf(shell, address, signal)
  if (holder === undefined) return undefined
  if (holder === 'own') {
    if (isMember) return undefined
    return `it has ${field} itself, which moves between the masters: remove it from its interface, or choose an address that no machine has`
  }
  const others = machines.filter((each) => each.role === 'Master' && each !== machine)
  if (await mayBeOurs(others, address, context)) return undefined
  return `the device ${holder.mac}, on its interface ${holder.link}, has ${field} already: choose an address that nobody has, or take it from that device`
}

type Holder = 'own' | { readonly mac: string; readonly link: string }

async function holderOf(
  shell: OwnShell,
  address: string,
  signal: AbortSignal,
): Promise<Holder | undefined> {
  const command = ['sh', '-c', holderScript, 'sh', address] as const
  const { stdout } = await shell.run(command, { signal, keepsFiles: true, timeoutMs: holderMsMax })
  const text = stdout.slice(0, holderCharsMax).trim()
  if (text === 'own') return text
  const [, mac, link] = /^((?:[0-9a-f]{2}:){5}[0-9a-f]{2}) ([\w.@-]{1,15})$/i.exec(text) ?? []
  return mac === undefined || link === undefined ? undefined : { mac, link }
}

/** Asks the other masters. One that has been changed and does not answer, or leaves, may be the holder. */
async function mayBeOurs(
  others: readonly PlannedMachine[],
  address: string,
  context: MachineContext,
): Promise<boolean> {
  const { known, machines, print, shellOf, signal } = context
  const isChanged = (at: string): boolean =>
    known().some((each) => each.address === at && each.isChanged === true)
  for (const other of others) {
    try {
      if ((await holderOf(await shellOf(other), address, signal)) === 'own') return true
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ShellError) && !(error instanceof StepError)) throw error
      print(`${other.address} does not say whether it has ${address}: ${error.message}`)
      if (isChanged(other.address)) return true
    }
  }
  return known().some((each) => each.role === 'Master' && isLeaving(each, machines))
}
