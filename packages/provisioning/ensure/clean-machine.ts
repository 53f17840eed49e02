import { provisioningBounds } from '../limits-table.ts'
import type { MachineContext } from '../contract/step.ts'
import { must, places } from './commands.ts'

/** Removes everything of Skerry from a machine but the system packages. */
export async function cleanMachine(context: MachineContext): Promise<string> {
  const { shell, signal } = context
  const { exitCode } = await shell.run(['test', '-x', places.program], { signal })
  if (exitCode !== 0) {
    // Copies may have begun before there was a program.
    const copies = [places.packages, `${places.data}/incoming`]
    await must(context, ['rm', '-rf', '--', ...copies])
    await shell.run(['rmdir', '--', places.data], { signal })
    return 'nothing is there'
  }
  const timeoutMs = provisioningBounds.steps.cleanMsMax
  await must(context, [places.program, 'machine', 'clean', '--yes'], { timeoutMs })
  return 'clean'
}
