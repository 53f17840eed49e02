import type { OwnShell } from '../contract/shell.ts'
import type { OwnMachineContext } from '../contract/step.ts'
import { provisioningBounds } from '../limits-table.ts'
import { ask, places, untilTrue } from './commands.ts'

/** Reports whether the site of a machine answers. */
export async function isServing(shell: OwnShell, signal: AbortSignal): Promise<boolean> {
  const command = [places.program, 'machine', 'nodes', '--data-dir', `${places.data}/site`] as const
  return (await shell.run(command, { signal, keepsFiles: true })).exitCode === 0
}

/** Waits until the site of this machine answers. */
export async function untilServed(context: OwnMachineContext): Promise<void> {
  const { machine, shell, signal } = context
  const otherwise = `the site does not serve; read "journalctl -u skerry-site" on ${machine.address}`
  const look = (): Promise<boolean> => isServing(shell, signal)
  await untilTrue(look, { msMax: provisioningBounds.steps.readyMsMax, otherwise }, context)
  await ask(context, ['systemctl', 'is-active', 'skerry-site'])
}
