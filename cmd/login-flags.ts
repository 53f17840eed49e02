import type { Command } from 'commander'
import { collect } from './role-commands.ts'

/** What a hub tells those who want to log in. */
export interface LoginFlags {
  /** A public client of one of its issuers; absent: it tells nothing. */
  loginClientId?: string | undefined
  loginScope?: readonly string[] | undefined
  /** True: who has a certificate of the hub gets the next one by it. */
  renewUserCertificates?: boolean | undefined
}

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
