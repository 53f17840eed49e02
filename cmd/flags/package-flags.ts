import { stat } from 'node:fs/promises'
import { InvalidArgumentError, type Command } from 'commander'
import { ExpectedError, exitCodes } from '@skerry/base'
import { packageDigestPattern } from '../../roles/program/package-key.ts'
import { collect } from './option-values.ts'

/** The directories in which a hub or a site looks for offline packages. */
export interface PackageFlags {
  package: string[]
}

export function withPackages(command: Command): Command {
  return command.option(
    '--package <directory>',
    'offline package for machines without mirrors, or a directory with several (repeatable)',
    collect,
    [],
  )
}

/** Resolves with the directories. Throws an ExpectedError if one of them is not one. */
export async function packageDirectoriesOf(flags: PackageFlags): Promise<string[]> {
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

/** Adds the words by which a line for a bare machine names an offline package. */
export function withLinePackage(command: Command, byDefault: string): Command {
  return command
    .option(
      '--package <digest>',
      `with --machine: offline package for missing system packages, and for images (default: ${byDefault})`,
      toDigest,
    )
    .option('--package-key <path>', 'file with the public key that must have signed it')
    .option('--no-package', 'the machine uses its own mirrors')
}

export function toDigest(text: string): string {
  if (packageDigestPattern.test(text)) return text
  throw new InvalidArgumentError(
    'a package is sha256: and 64 hexadecimal digits, as "skerry package show" prints it',
  )
}
