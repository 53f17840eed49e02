import type { MachineStatus } from '../kind/edge-cluster.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import {
  StepError,
  type ForMachineContext,
  type MachineContext,
  type OwnMachineContext,
} from '../contract/step.ts'
import { ask } from './commands.ts'

/**
 * Takes the name of the machine's node, its host name, for this machine. Rejects with a StepError while another
 * machine of the cluster has it: two kubelets with one name would take the node from each other.
 */
export async function takeNodeName(context: MachineContext): Promise<string> {
  const { machine, machines, record } = context
  const name = await nodeNameOf(context)
  const owner = otherOwnerOf(name, context)
  if (owner !== undefined) {
    if (isLeaving(owner, machines)) throw stillTaken(name, owner)
    const why = `that of ${owner.address} as well: give one of them another host name`
    throw new StepError(`host name ${name} of ${machine.address} is ${why}`, { isFinal: true })
  }
  // Nothing is awaited since the look: two machines cannot both take it.
  record({ node: name })
  return name
}

/** Returns another machine that has a node of this name. One that was only looked at has none. */
export function otherOwnerOf(
  name: string,
  { machine, known }: Pick<ForMachineContext, 'machine' | 'known'>,
): MachineStatus | undefined {
  return known().find(
    ({ address, node, isChanged }) =>
      address !== machine.address && node === name && isChanged === true,
  )
}

/** Reports whether the spec does not name a machine any more. */
export function isLeaving(
  { address }: Pick<MachineStatus, 'address'>,
  machines: readonly PlannedMachine[],
): boolean {
  return !machines.some((each) => each.address === address)
}

/** Returns the error of a machine that has to wait until another one has left. */
export function stillTaken(name: string, { address }: MachineStatus): StepError {
  return new StepError(`host name ${name} is still that of ${address}, which leaves the cluster`)
}

/** Returns the name of the machine's node: its host name, as kubelets do. */
export async function nodeNameOf(context: OwnMachineContext): Promise<string> {
  const name = (await ask(context, ['uname', '-n'])).trim().toLowerCase()
  if (/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) && name.length <= 63) return name
  const text = `its host name "${name}" cannot be the name of a node: use lower-case letters, digits and dashes`
  throw new StepError(text, { isFinal: true })
}
