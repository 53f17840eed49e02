import { StepError, type JobOrder, type MachineContext } from '../contract/step.ts'
import { ask } from './commands.ts'
import { packageFor } from './copy-package.ts'
import { installLibraries, unpackProgram } from './install-package.ts'
import { copyProgram } from './install-program.ts'
import { heldProgram, wantedProgram } from './program-on-machine.ts'

/** Puts the program that a job wants next to the present one, and sees that it starts. Nothing uses it yet. */
export function installBeside(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const { version = '', package: offline } = order.job.spec.upgrade ?? {}
    const { program, launcher } = await wantedProgram(order, context)
    if (offline === undefined) await copyProgram(await heldProgram(version, context), context)
    else {
      const found = await packageFor(offline, context)
      await unpackProgram(found.program, context)
      await installLibraries(launcher, found.debs, context)
    }
    const told = await ask(context, [launcher, '--version'])
    if (told.trim() === '') throw new StepError('the program does not say its version')
    return `skerry ${program.version} is there`
  }
}
