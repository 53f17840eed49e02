import { createConsoleSessions, type ConsoleSessions } from '@skerry/console-api'
import type { OidcClient } from '@skerry/client'
import { version } from '../../runtime/version.ts'
import type { HubPart, OpenHub } from '../contract/hub-part.ts'
import { loginOffersOf, type LoginFlags } from '../contract/login-flags.ts'

/** Serves the web console: logs browsers in. */
export function webConsole(login: LoginFlags): HubPart {
  const opened = new WeakMap<OpenHub, ConsoleSessions>()
  const sessionsOf = (hub: OpenHub): ConsoleSessions => {
    const known = opened.get(hub) ?? openSessions(hub, login)
    opened.set(hub, known)
    return known
  }
  return {
    routes: (hub) => [sessionsOf(hub).route],
    access: (hub) => {
      const { authorizer, callers } = sessionsOf(hub)
      return { authorizers: [authorizer], callers }
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
