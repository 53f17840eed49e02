import { provisioningBounds } from '../limits-table.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import { must, places } from './commands.ts'
import { takeBackFilesScript } from './copied-files.ts'
import { otherClusterOn } from './take-machine.ts'

const timeoutMs = provisioningBounds.steps.cleanMsMax

/** Removes everything of Skerry from a machine but the system packages. */
export async function cleanMachine(context: MachineContext): Promise<string> {
  const { shell, signal } = context
  const other = await otherClusterOn(context)
  if (other !== undefined) return `it belongs to cluster ${other}, and stays as it is`
  const isThere = async (path: string): Promise<boolean> =>
    (await shell.run(['test', '-e', path], { signal, keepsFiles: true })).exitCode === 0
  if (await isThere(places.program)) {
    await must(context, [places.program, 'machine', 'clean', '--yes'], { timeoutMs })
    return 'clean'
  }
  await must(context, ['sh', '-c', takeBackFilesScript], { timeoutMs })
  // With settings there has been a node, whose mounts nothing but the program can tell from the machine's own.
  if (await isThere(places.roleSettings)) {
    const text = `${places.program} lacks on ${context.machine.address}, and ${places.data} is still there`
    throw new StepError(`${text}: repeat the step InstallProgram, or remove it by hand and skip`)
  }
  const directories = [places.settings, places.programs, places.data]
  await must(context, ['rm', '-rf', '--one-file-system', '--', ...directories], { timeoutMs })
  return 'clean'
}
