import { stat } from 'node:fs/promises'
import { InvalidArgumentError, type Command } from 'commander'
import { ExpectedError, exitCodes } from '@skerry/base'
import { collect } from './option-values.ts'

/** The directories in which a hub looks for offline packages. */
export interface HubPackageFlags {
  package: string[]
}

export function withHubPackages(command: Command): Command {
  return command.option(
    '--package <directory>',
    'offline package for machines without mirrors, or a directory with several (repeatable)',
    collect,
    [],
  )
}

/** Resolves with the directories. Throws an ExpectedError if one of them is not one. */
export async function packageDirectoriesOf(flags: HubPackageFlags): Promise<string[]> {
  for (const path of flags.package) {
    const isDirectory = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    )
    if (isDirectory) continue
    const text = `Cannot use --package ${path}: it is not a directory; "skerry package create" makes one`
    throw new ExpectedError(text, exitCodes.usage)
  }
  return flags.package
}

/** Collects values of the form release=value. */
export function collectByRelease(
  text: string,
  previous: Record<string, string>,
): Record<string, string> {
  const [, release, value] = /^([a-z]+-[\d.]+)=(\S+)$/.exec(text) ?? []
  if (release === undefined || value === undefined) {
    throw new InvalidArgumentError(
      'write <release>=<value>, such as debian-12=http://mirror/debian',
    )
  }
  return { ...previous, [release]: value }
}
