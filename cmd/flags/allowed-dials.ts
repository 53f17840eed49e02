import { InvalidArgumentError, type Command } from 'commander'
import { parseAllowedDial, type AllowedDial } from '@skerry/fleet-kinds'

export interface AllowedDialsFlags {
  allowDial: AllowedDial[]
  allowDialDir: string | undefined
}

/** Adds the options for machines behind this cluster that the hub may dial; by default none. */
export function withAllowedDials(command: Command): Command {
  return command
    .option(
      '--allow-dial <address[/bits]:port>',
      'the hub may dial this machine, or each of a network, to make nodes of them, e.g. 10.0.0.0/24:22 (repeatable)',
      collectAllowed,
      [],
    )
    .option(
      '--allow-dial-dir <path>',
      'directory with files that list more of them, one per line; read again at each dial',
    )
}

/** Returns what the agent needs of these options. */
export function dialsOf({ allowDial, allowDialDir }: AllowedDialsFlags) {
  return { addresses: allowDial, directory: allowDialDir }
}

function collectAllowed(text: string, previous: AllowedDial[]): AllowedDial[] {
  const allowed = parseAllowedDial(text)
  if (allowed) return [...previous, allowed]
  throw new InvalidArgumentError(
    'use <address>[/<bits>]:<port>, e.g. 10.0.0.21:22, 10.0.0.0/24:22 or pos-1.shop:22',
  )
}
