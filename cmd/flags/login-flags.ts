import type { Command } from 'commander'
import { collect } from './option-values.ts'

export function withLoginOptions(command: Command): Command {
  return command
    .option(
      '--login-client-id <id>',
      'public client for "skerry login", an audience of a configured issuer',
    )
    .option('--login-scope <scope>', 'scope that "skerry login" requests (repeatable)', collect, [])
    .option(
      '--renew-user-certificates',
      "let users' certificates of this hub's authority renew themselves (default: they expire)",
    )
}
