import { join } from 'node:path'
import type { Command } from 'commander'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { collect, example, toJson } from '../flags/option-values.ts'

interface UserFlags {
  dataDir: string
  output: string | undefined
}

/** Adds the commands for users of a hub who log in with one of its tokens. */
export function addUserCommands(program: Command): void {
  const user = program
    .command('user')
    .description('Manage the users of a hub who log in with a token')
  addAdd(user)
  onHub(user.command('list'))
    .description('List the tokens with their users, groups and expiry')
    .addHelpText('after', example('skerry user list', 'skerry user list -o json'))
    .action(async (options: UserFlags) => {
      const { printUsers } = await import('../../roles/client/user-tokens.ts')
      await printUsers(options)
    })
  onHub(user.command('remove'))
    .description('Void the tokens of a user, or one of them')
    .argument('<name>')
    .option('--token-id <id>', 'only this one, as "skerry user list" shows it')
    .addHelpText('after', example('skerry user remove olga'))
    .action(async (name: string, options: UserFlags & { tokenId: string | undefined }) => {
      const { removeUser } = await import('../../roles/client/user-tokens.ts')
      await removeUser({ ...options, name })
    })
}

function addAdd(user: Command): void {
  onHub(user.command('add'))
    .description('Make a token for a user, and print it once; the hub keeps only its hash')
    .argument('<name>', 'user name of the bearer; a user may have several tokens')
    .option('--group <name>', 'a group of the user (repeatable)', collect, [])
    .option('--ttl <duration>', 'validity of the token, e.g. 12h, 720h (default: until removed)')
    .addHelpText('after', example('skerry user add olga --group operators --ttl 720h'))
    .action(
      async (name: string, options: UserFlags & { group: string[]; ttl: string | undefined }) => {
        const { addUser } = await import('../../roles/client/user-tokens.ts')
        await addUser({ ...options, name })
      },
    )
}

function onHub(command: Command): Command {
  return command
    .option('--data-dir <path>', 'data directory of the hub', join(dataDirectoryDefault, 'hub'))
    .option('-o, --output <format>', 'output format: json', toJson)
}
