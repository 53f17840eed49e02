import { posix } from 'node:path'
import type { ForMachineContext } from '../contract/step.ts'
import type { MachineStatus } from '../kind/edge-cluster.ts'
import { madeMasters } from '../kind/made-masters.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import { must, places } from './commands.ts'

/** Lets the agents of the site dial a machine that the hub does not reach, and no other one. */
export async function allowDial(context: ForMachineContext): Promise<string> {
  const { machine, record } = context
  // It is known before the file is there, so that a machine on which this broke off loses it again.
  record({ isDialled: true })
  const { path, content } = dialFile(machine)
  // The agent reads the directory at each dial, so that the site need not start again.
  for (const master of mastersOf(context)) {
    await (await context.shellOf(master)).write(path, content, 0o600)
  }
  return `the agent of the site may dial ${content.trim()}`
}

/** Takes that back, for a machine that leaves or that the hub reaches on another way now. */
export async function forbidDial(context: ForMachineContext): Promise<string> {
  const { machine, record } = context
  for (const master of mastersOf(context)) {
    const shell = await context.shellOf(master)
    await must({ ...context, shell }, ['rm', '-f', '--', dialFile(machine).path])
  }
  record({ isDialled: false })
  return `the agent of the site may not dial ${machine.address}`
}

/** The hub uses the tunnel of any of them. */
function mastersOf({ machines, known, master }: ForMachineContext): readonly PlannedMachine[] {
  const made = madeMasters(machines, known())
  return made.length === 0 ? [master] : made
}

/** The file that lets an agent dial a machine. */
export function dialFile({ address, port }: Pick<PlannedMachine, 'address' | 'port'>): {
  readonly path: string
  readonly content: string
} {
  return { path: posix.join(places.allowedDials, address), content: `${address}:${port}\n` }
}

/** Hubs of before have not kept which machines may be dialled. */
export function isDiallable({ isDialled }: MachineStatus, { block }: PlannedMachine): boolean {
  return isDialled ?? block.via === 'Site'
}
