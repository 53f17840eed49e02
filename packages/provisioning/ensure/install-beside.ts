import { StepError, type JobOrder, type MachineContext } from '../contract/step.ts'
import { must } from './commands.ts'
import { copyProgram } from './install-program.ts'
import { wantedProgram } from './program-on-machine.ts'

/** Copies the program that a job wants next to the present one, and sees that it starts. Nothing uses it yet. */
export function installBeside(order: JobOrder): (context: MachineContext) => Promise<string> {
  return async (context) => {
    const { program, launcher } = await wantedProgram(order, context)
    await copyProgram(program, context)
    const told = await must(context, [launcher, '--version'], { isQuiet: true })
    if (told.trim() === '') throw new StepError('the program does not say its version')
    return `skerry ${program.version} is there`
  }
}
