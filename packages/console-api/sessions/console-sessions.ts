import type { Authenticator, Authorizer, LoadedServer, Objects, Route } from '@skerry/apiserver'
import { asError, type Clock, type Logger, type Task } from '@skerry/base'
import type { OidcClient } from '@skerry/client'
import { consoleBounds } from '../limits-table.ts'
import { IssuerLogin } from './issuer-login.ts'
import { LoginAttempts } from './login-attempts.ts'
import { deriveKey } from './sealed-text.ts'
import { sessionAuthenticator } from './session-authenticator.ts'
import { sessionListAuthorizer, sessionListRoute } from './session-list-route.ts'
import { isSessionPath, sessionAuthorizer, sessionRoute } from './session-routes.ts'
import { SessionStore } from './session-store.ts'

export interface ConsoleSessionsDeps {
  readonly server: Pick<LoadedServer, 'authenticate'>
  readonly objects: Objects
  /** PEM of a key that every replica of the hub has, and nobody else. */
  readonly hubKeyPem: string
  /** Returns the client with which people log in at an issuer; undefined if the hub names none. */
  readonly issuerClient: () => OidcClient | undefined
  readonly hub: { readonly name: string; readonly version: string }
  readonly clock: Clock
  readonly log: Logger
}

/** Everything by which browsers log in at a hub. */
export interface ConsoleSessions {
  readonly routes: readonly Route[]
  readonly authorizers: readonly Authorizer[]
  readonly callers: (usual: Authenticator) => Authenticator
  /** Removes expired sessions until the signal aborts. */
  readonly sweep: Task
}

const { sweepMs } = consoleBounds.sessions

export function createConsoleSessions(deps: ConsoleSessionsDeps): ConsoleSessions {
  const { server, objects, issuerClient: client, hub, clock, log } = deps
  const hubKey = deriveKey(deps.hubKeyPem, 'records')
  const sessions = new SessionStore({ objects, hubKey, clock })
  const issuerLogin = new IssuerLogin({ client, hubKey, clock })
  const route = sessionRoute({
    sessions,
    issuerLogin,
    attempts: new LoginAttempts(clock),
    authenticate: (credentials, signal) => server.authenticate(credentials, signal),
    hub,
    clock,
    log,
  })
  return {
    routes: [route, sessionListRoute({ sessions, log })],
    authorizers: [sessionAuthorizer, sessionListAuthorizer],
    callers: (usual) =>
      sessionAuthenticator(usual, {
        sessions,
        renew: (secret, known, signal) => issuerLogin.renew(sessions, { secret, known }, signal),
        isOpen: isSessionPath,
      }),
    async sweep(signal) {
      for (;;) {
        await clock.sleep(sweepMs, signal)
        // The store may be away for a while; expired sessions do not count meanwhile.
        await sessions.sweep().catch((error: unknown) => {
          log.info('Expired console sessions not removed, trying again', { error: asError(error) })
        })
      }
    },
  }
}
