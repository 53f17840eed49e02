import { stat } from 'node:fs/promises'
import { InvalidArgumentError, type Command } from 'commander'
import { ExpectedError, exitCodes } from '@skerry/base'

/** The programs for machines that a hub or a site gives them, by their architecture. */
export interface MachineProgramFlags {
  machineProgram: Record<string, string>
}

export function withMachinePrograms(command: Command): Command {
  return command.option(
    '--machine-program <arch=path>',
    'executable for machines that join; x86_64 or aarch64 (repeatable; default: its own program, for its own architecture)',
    collectProgram,
    {},
  )
}

/** Resolves with the paths by architecture. Throws an ExpectedError if one of them is not a file. */
export async function machineProgramsOf({
  machineProgram,
}: MachineProgramFlags): Promise<Record<string, string>> {
  for (const [architecture, path] of Object.entries(machineProgram)) {
    const isFile = await stat(path).then(
      (found) => found.isFile(),
      () => false,
    )
    if (isFile) continue
    const text = `Cannot use --machine-program ${architecture}=${path}: it is not a file; "./skerry build" makes one on a machine of that architecture`
    throw new ExpectedError(text, exitCodes.usage)
  }
  return machineProgram
}

function collectProgram(text: string, previous: Record<string, string>): Record<string, string> {
  const [, architecture, path] = /^(x86_64|aarch64)=(.+)$/.exec(text) ?? []
  if (architecture === undefined || path === undefined) {
    throw new InvalidArgumentError('write x86_64=<path> or aarch64=<path>')
  }
  return { ...previous, [architecture]: path }
}
