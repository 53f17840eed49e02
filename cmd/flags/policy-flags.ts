import type { Command } from 'commander'
import type { ImpersonationPolicy } from '@skerry/membership'

/** The users whom an agent may impersonate in its cluster. */
export interface PolicyFlags {
  allowUser: string[]
  allowGroup: string[]
  denyGroup: string[]
}

export function withPolicyOptions(command: Command): Command {
  return command
    .option('--allow-user <name>', 'act for these users of the hub only (repeatable)', collect, [])
    .option(
      '--allow-group <name>',
      'act only for users whose groups are all among these (repeatable)',
      collect,
      [],
    )
    .option('--deny-group <name>', 'do not act for users in this group (repeatable)', collect, [])
}

export function policyOf({ allowUser, allowGroup, denyGroup }: PolicyFlags): ImpersonationPolicy {
  return {
    ...(allowUser.length === 0 ? {} : { users: allowUser }),
    ...(allowGroup.length === 0 ? {} : { groups: allowGroup }),
    deniedGroups: denyGroup,
  }
}

function collect(value: string, previous: string[]): string[] {
  return [...previous, value]
}
