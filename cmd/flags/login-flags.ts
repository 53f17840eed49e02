import type { Command } from 'commander'
import { collect } from './option-values.ts'

export function withLoginOptions(command: Command): Command {
  return command
    .option(
      '--login-client-id <id>',
      'tell "skerry login" to use this public client, an audience of a configured issuer',
    )
    .option('--login-scope <scope>', 'and to ask for this scope (repeatable)', collect, [])
    .option(
      '--renew-user-certificates',
      "users' certificates of this hub's authority renew themselves (default: they end)",
    )
}
