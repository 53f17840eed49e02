import { posix } from 'node:path'
import type { ForMachineContext } from '../contract/step.ts'
import { places } from './commands.ts'

/** Lets the agent of the site dial a machine that the hub does not reach, and no other one. */
export async function allowDial(context: ForMachineContext): Promise<string> {
  const { machine, master } = context
  const shell = await context.shellOf(master)
  const { address, port } = machine
  // The agent reads the directory at each dial, so that the site need not start again.
  const path = posix.join(places.allowedDials, address)
  await shell.write(path, `${address}:${port}\n`, 0o600)
  return `the agent of the site may dial ${address}:${port}`
}
