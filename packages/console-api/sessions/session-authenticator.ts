import { StatusError, isStatusError } from '@skerry/api'
import type { Authenticator, Credentials, UserInfo } from '@skerry/apiserver'
import { RecentMap } from '@skerry/base'
import { sessionIdKey } from '@skerry/fleet-kinds'
import { consoleBounds } from '../limits-table.ts'
import { sessionSecret } from './session-cookie.ts'
import type { SessionSource } from './session-record.ts'
import type { KnownSession, SessionStore } from './session-store.ts'

export interface SessionAuthenticatorDeps {
  readonly sessions: SessionStore
  /** Resolves with a fresh source of a session whose token has expired; undefined if there is none. */
  readonly renew: (
    secret: string,
    known: KnownSession,
    signal: AbortSignal,
  ) => Promise<SessionSource | undefined>
  /** Reports whether everybody may ask this path, even with a session that is over. */
  readonly isOpen: (path: string) => boolean
}

/**
 * Authenticates requests of the console by their session's cookie. The credential with which the session began is
 * checked again each time: when it is revoked or expires, so does the session. Other requests go to `usual`.
 */
export function sessionAuthenticator(
  usual: Authenticator,
  { sessions, renew, isOpen }: SessionAuthenticatorDeps,
): Authenticator {
  return {
    async authenticate(credentials, signal) {
      const secret = sessionSecret(credentials.headers)
      if (secret === undefined) return usual.authenticate(credentials, signal)
      const known = sessions.find(secret)
      try {
        if (!known) throw unauthorized()
        const user = await userOf(known, usual, { ...credentials, signal }).catch(
          async (error: unknown) => {
            if (!isStatusError(error, 'Unauthorized')) throw error
            const source = await renew(secret, known, signal)
            if (!source) throw error
            return userOf({ ...known, source }, usual, { ...credentials, signal })
          },
        )
        if (credentials.isRepeat !== true) await sessions.touch(known.record)
        return { user: withSession(user, known) }
      } catch (error) {
        const isOver = isStatusError(error, 'Unauthorized')
        if (isOver && isOpen(credentials.path ?? '')) return usual.authenticate(credentials, signal)
        throw error
      }
    },
  }
}

interface Asked extends Pick<Credentials, 'path' | 'sourceAddress'> {
  readonly signal: AbortSignal
}

/** Returns the user whom the source names now. Throws Unauthorized if that is nobody, or somebody else. */
async function userOf(
  { record, source }: KnownSession,
  usual: Authenticator,
  { signal, ...asked }: Asked,
): Promise<UserInfo> {
  const found = await usual.authenticate({ ...asked, ...credentialsOf(source) }, signal)
  const { name, uid } = record.user
  if (found?.user.name !== name || (found.user.uid ?? '') !== uid) throw unauthorized()
  return found.user
}

/** Certificates are decoded once: authenticators know them by their object. */
const decoded = new WeakMap<SessionSource, Credentials>()

/** The credentials of a request that would come with this source. */
export function credentialsOf(source: SessionSource): Credentials {
  const known = decoded.get(source)
  if (known) return known
  const { token, certificate } = source
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  const made: Credentials = {
    headers,
    fields: () => Object.entries(headers),
    clientCertificates: certificate === undefined ? [] : [Buffer.from(certificate, 'base64')],
  }
  decoded.set(source, made)
  return made
}

/** One object for each user and session, because others keep what they derive from it. */
const users = new WeakMap<UserInfo, RecentMap<string, UserInfo>>()
const { perUserMax } = consoleBounds.sessions

function withSession(user: UserInfo, { record: { id } }: KnownSession): UserInfo {
  const sessions = users.get(user) ?? new RecentMap<string, UserInfo>(perUserMax)
  users.set(user, sessions)
  const known = sessions.get(id)
  if (known) return known
  const made = { ...user, extra: { ...user.extra, [sessionIdKey]: [id] } }
  sessions.set(id, made)
  return made
}

/** Returns the id of the session that a user came with; undefined for other credentials. */
export function sessionIdOf({ extra }: UserInfo): string | undefined {
  return extra[sessionIdKey]?.[0]
}

function unauthorized(): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized')
}
