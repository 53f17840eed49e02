import { stat } from 'node:fs/promises'
import { InvalidArgumentError, type Command } from 'commander'
import { ExpectedError, exitCodes } from '@skerry/base'

/** The programs for machines that a hub or a site gives them, by their architecture. */
export interface MachineProgramFlags {
  machineProgram: Record<string, readonly string[]>
}

export function withMachinePrograms(command: Command): Command {
  return command.option(
    '--machine-program <arch=path>',
    'executable for machines that join; x86_64 or aarch64 (repeatable, also with several versions; default: its own program, for its own architecture)',
    collectProgram,
    {},
  )
}

/** Resolves with the paths by architecture. Throws an ExpectedError if one of them is not a file. */
export async function machineProgramsOf({
  machineProgram,
}: MachineProgramFlags): Promise<Record<string, readonly string[]>> {
  const given = Object.entries(machineProgram)
  const named = given.flatMap(([architecture, paths]) =>
    paths.map((path) => ({ architecture, path })),
  )
  for (const { architecture, path } of named) {
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

function collectProgram(
  text: string,
  previous: Record<string, readonly string[]>,
): Record<string, readonly string[]> {
  const [, architecture, path] = /^(x86_64|aarch64)=(.+)$/.exec(text) ?? []
  if (architecture === undefined || path === undefined) {
    throw new InvalidArgumentError('write x86_64=<path> or aarch64=<path>')
  }
  return { ...previous, [architecture]: [...(previous[architecture] ?? []), path] }
}
