import { posix } from 'node:path'
import type { ForMachineContext } from '../contract/step.ts'
import type { MachineStatus } from '../kind/edge-cluster.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import { must, places } from './commands.ts'

/** Lets the agent of the site dial a machine that the hub does not reach, and no other one. */
export async function allowDial(context: ForMachineContext): Promise<string> {
  const { machine, master, record } = context
  // It is known before the file is there, so that a machine on which this broke off loses it again.
  record({ isDialled: true })
  const shell = await context.shellOf(master)
  const { address, port } = machine
  // The agent reads the directory at each dial, so that the site need not start again.
  await shell.write(fileOf(machine), `${address}:${port}\n`, 0o600)
  return `the agent of the site may dial ${address}:${port}`
}

/** Takes that back, for a machine that leaves or that the hub reaches on another way now. */
export async function forbidDial(context: ForMachineContext): Promise<string> {
  const { machine, master, record } = context
  const shell = await context.shellOf(master)
  await must({ ...context, shell }, ['rm', '-f', '--', fileOf(machine)])
  record({ isDialled: false })
  return `the agent of the site may not dial ${machine.address}`
}

/** Hubs of before have not kept which machines may be dialled. */
export function isDiallable({ isDialled }: MachineStatus, { block }: PlannedMachine): boolean {
  return isDialled ?? block.via === 'Site'
}

function fileOf({ address }: PlannedMachine): string {
  return posix.join(places.allowedDials, address)
}
