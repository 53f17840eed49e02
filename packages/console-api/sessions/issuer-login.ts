import { linkedSignal, type Clock } from '@skerry/base'
import {
  LoginEndedError,
  openOidcIssuer,
  type OidcChecks,
  type OidcClient,
  type OidcTokens,
} from '@skerry/client'
import { consoleBounds } from '../limits-table.ts'
import { deriveKey, seal, unseal } from './sealed-text.ts'
import type { SessionSource } from './session-record.ts'
import type { KnownSession, SessionStore } from './session-store.ts'

export interface IssuerLoginDeps {
  /** Returns the public client with which people log in now; undefined if the hub names none. */
  readonly client: () => OidcClient | undefined
  readonly hubKey: Uint8Array
  readonly clock: Pick<Clock, 'now' | 'setTimer'>
}

/** The state of a login between leaving for the issuer and coming back. It travels in a cookie, encrypted. */
interface LoginState {
  readonly checks: OidcChecks
  readonly redirectUri: string
  readonly returnTo: string
  readonly expiresAtMs: number
}

export interface FinishedLogin {
  readonly tokens: OidcTokens
  readonly returnTo: string
}

const { personMs, requestsMs } = consoleBounds.issuerLogin

/**
 * Logs people in at the hub's OpenID Connect issuer by authorization code with PKCE (RFC 7636). Any replica of the hub
 * may finish what another one began.
 */
export class IssuerLogin {
  readonly #deps: IssuerLoginDeps
  readonly #key: Uint8Array
  readonly #renewing = new Map<string, Promise<SessionSource | undefined>>()

  constructor(deps: IssuerLoginDeps) {
    this.#deps = deps
    this.#key = deriveKey(deps.hubKey, 'login')
  }

  /** The host of the issuer, for people; undefined if there is none. */
  get name(): string | undefined {
    const client = this.#deps.client()
    return client && new URL(client.issuerUrl).host
  }

  /** Resolves with the issuer's page, and the state to keep in a cookie. Throws ExpectedError. */
  async begin(
    { redirectUri, returnTo }: Pick<LoginState, 'redirectUri' | 'returnTo'>,
    signal: AbortSignal,
  ): Promise<{ readonly url: string; readonly state: string }> {
    return await this.#ask(signal, async (issuer) => {
      const { url, checks } = await issuer.beginLogin(redirectUri)
      const expiresAtMs = this.#deps.clock.now() + personMs
      const state: LoginState = { checks, redirectUri, returnTo, expiresAtMs }
      return { url, state: seal(JSON.stringify(state), this.#key, 'login') }
    })
  }

  /**
   * `query` is the issuer's answer. Resolves to undefined if this browser began no such login, or too long ago. Throws
   * ExpectedError.
   */
  async finish(
    { sealed, query }: { readonly sealed: string; readonly query: string },
    signal: AbortSignal,
  ): Promise<FinishedLogin | undefined> {
    const text = unseal(sealed, this.#key, 'login')
    if (text === undefined) return undefined
    // Its authenticity is proven: `begin` sealed it.
    const { checks, redirectUri, returnTo, expiresAtMs } = JSON.parse(text) as LoginState
    if (this.#deps.clock.now() >= expiresAtMs) return undefined
    const answer = new URL(redirectUri)
    answer.search = query
    const tokens = await this.#ask(signal, (issuer) => issuer.finishLogin(answer, checks))
    return { tokens, returnTo }
  }

  /** Returns the page that a login of this browser was to lead to, also if that login has failed. */
  returnOf(sealed: string): string | undefined {
    const text = unseal(sealed, this.#key, 'login')
    // Its authenticity is proven: `begin` sealed it.
    return text === undefined ? undefined : (JSON.parse(text) as LoginState).returnTo
  }

  /**
   * Renews the token of a session that began at the issuer. Resolves to undefined if the issuer wants another login.
   * Requests of one session share the attempt.
   */
  async renew(
    sessions: SessionStore,
    { secret, known }: { readonly secret: string; readonly known: KnownSession },
    signal: AbortSignal,
  ): Promise<SessionSource | undefined> {
    const { login } = known.source
    if (!login || !this.#deps.client()) return undefined
    const { id } = known.record
    const begun = this.#renewing.get(id)
    if (begun) return await begun
    const renewing = this.#renewed(sessions, { secret, login }, signal)
    this.#renewing.set(id, renewing)
    try {
      return await renewing
    } finally {
      this.#renewing.delete(id)
    }
  }

  async #renewed(
    sessions: SessionStore,
    { secret, login }: { readonly secret: string; readonly login: Login },
    signal: AbortSignal,
  ): Promise<SessionSource | undefined> {
    // Another request, or another replica, may have done it already.
    const now = sessions.find(secret)?.source
    if (now?.login && now.login.refreshToken !== login.refreshToken) return now
    try {
      const tokens = await this.#ask(signal, (issuer) => issuer.refresh(login))
      const source = sourceOf(tokens)
      await sessions.renew(secret, source)
      return source
    } catch (error) {
      if (error instanceof LoginEndedError) return undefined
      throw error
    }
  }

  async #ask<T>(signal: AbortSignal, work: (issuer: OidcIssuer) => Promise<T>): Promise<T> {
    const { clock } = this.#deps
    const client = this.#deps.client()
    if (!client) throw new TypeError('Cannot log in at an issuer: the hub names none')
    using scope = linkedSignal(signal)
    const late = new Error(`the issuer did not answer in ${requestsMs} ms`)
    using _timer = clock.setTimer(requestsMs, () => scope.abort(late))
    return await work(await openOidcIssuer(client, { clock }, scope.signal))
  }
}

type OidcIssuer = Awaited<ReturnType<typeof openOidcIssuer>>
type Login = NonNullable<SessionSource['login']>

export function sourceOf({ idToken, refreshToken, subject }: OidcTokens): SessionSource {
  const login = refreshToken === undefined ? {} : { login: { refreshToken, subject } }
  return { token: idToken, ...login }
}
