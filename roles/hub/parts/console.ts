import {
  consoleFilesAuthorizer,
  consoleFilesRoute,
  consoleTarget,
  createConsoleSessions,
  type ConsoleSessions,
} from '@skerry/console-api'
import type { OidcClient } from '@skerry/client'
import { version } from '../../runtime/version.ts'
import { readConsoleFiles } from '../contract/console-files.ts'
import type { HubPart, OpenHub } from '../contract/hub-part.ts'
import { loginOffersOf, type LoginFlags } from '../contract/login-flags.ts'

export interface ConsoleOptions {
  readonly login?: LoginFlags | undefined
  /** The directory of the console's files. If omitted, they are next to the program. */
  readonly directory?: string | undefined
}

/** Serves the web console: logs browsers in, and gives them the pages. */
export function webConsole({ login = {}, directory }: ConsoleOptions): HubPart {
  const opened = new WeakMap<OpenHub, ConsoleSessions>()
  const sessionsOf = (hub: OpenHub): ConsoleSessions => {
    const known = opened.get(hub) ?? openSessions(hub, login)
    opened.set(hub, known)
    return known
  }
  return {
    retarget: consoleTarget,
    routes: (hub) => [sessionsOf(hub).route, consoleFilesRoute(readConsoleFiles(directory))],
    access: (hub) => {
      const { authorizer, callers } = sessionsOf(hub)
      return { authorizers: [authorizer, consoleFilesAuthorizer], callers }
    },
    tasks: (hub) => [sessionsOf(hub).sweep],
  }
}

function openSessions(
  { server, objects, pki, issuers, context: { clock, log } }: OpenHub,
  login: LoginFlags,
): ConsoleSessions {
  return createConsoleSessions({
    server,
    objects,
    hubKeyPem: pki.authority.privateKeyPem,
    issuerClient: () => clientOf(loginOffersOf(login, issuers())),
    hub: { name: 'skerry-hub', version },
    clock,
    log,
  })
}

function clientOf([offer]: ReturnType<typeof loginOffersOf>): OidcClient | undefined {
  if (!offer) return undefined
  const { issuerUrl, clientId, scopes, certificateAuthority: authorityPem } = offer
  return { issuerUrl, clientId, scopes, authorityPem }
}
