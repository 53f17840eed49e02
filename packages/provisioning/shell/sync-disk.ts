import type { OwnShell } from '../contract/shell.ts'
import { StepError } from '../contract/step.ts'
import { provisioningBounds } from '../limits-table.ts'

const { syncMsMax } = provisioningBounds.engine

/** Writes a machine's files to its disk. Work is not done before: a power cut would leave empty files behind. */
export async function syncDisk(shell: Pick<OwnShell, 'run'>, signal: AbortSignal): Promise<void> {
  const command = ['sync', '--file-system', '/', '/etc', '/usr', '/var/lib'] as const
  const { exitCode, stderr } = await shell.run(command, { timeoutMs: syncMsMax, signal })
  if (exitCode !== 0) throw new StepError(`the machine cannot write to its disk: ${stderr.trim()}`)
}
