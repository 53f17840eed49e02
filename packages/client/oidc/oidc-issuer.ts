import { ExpectedError, abortReason, exitCodes, type Clock } from '@skerry/base'
import type { Configuration } from 'openid-client'
import { issuerFetch } from './issuer-fetch.ts'
import { openLoopbackListener } from './loopback-listener.ts'
import { clientBounds } from '../limits-table.ts'

/** A public client of an OpenID Connect issuer: it has no secret and proves itself by PKCE. */
export interface OidcClient {
  /** The URL of the issuer; https only. */
  readonly issuerUrl: string
  readonly clientId: string
  /** Scopes in addition to `openid`, and to `offline_access` if the issuer has that. */
  readonly scopes: readonly string[]
  /** PEM. If omitted, the system's authorities. */
  readonly authorityPem?: string | undefined
}

export interface OidcTokens {
  /** The token for an API server. */
  readonly idToken: string
  /** If omitted, the user must log in again when the ID token expires. */
  readonly refreshToken?: string | undefined
  /** The expiry of the ID token, in milliseconds since the Unix epoch. */
  readonly expiresAtMs: number
  readonly subject: string
}

/** The address and code that a person uses on another device. */
export interface DevicePrompt {
  readonly url: string
  readonly code: string
}

/** Secrets of a login that has begun, with which its answer is checked. */
export interface OidcChecks {
  readonly verifier: string
  readonly state: string
  readonly nonce: string
}

export interface OidcIssuer {
  /**
   * Logs in by authorization code with PKCE (RFC 7636, RFC 8252). Calls `show` with the address to
   * open. `port` 0 means any free one. Throws ExpectedError.
   */
  logInByBrowser(port: number, show: (url: string) => void): Promise<OidcTokens>
  /**
   * Begins the same for an answer that comes to `redirectUri`, possibly at another process. The checks are secret.
   * Throws ExpectedError.
   */
  beginLogin(redirectUri: string): Promise<{ readonly url: string; readonly checks: OidcChecks }>
  /** Ends it with the whole address to which the issuer returned. Throws ExpectedError. */
  finishLogin(answer: URL, checks: OidcChecks): Promise<OidcTokens>
  /** Logs in by device authorization grant (RFC 8628). Throws ExpectedError. */
  logInByDevice(show: (prompt: DevicePrompt) => void): Promise<OidcTokens>
  /** Throws LoginEndedError if the issuer requires another login, otherwise ExpectedError. */
  refresh(tokens: { refreshToken: string; subject: string }): Promise<OidcTokens>
  /** Revokes the token if the issuer supports that; otherwise does nothing. Throws ExpectedError. */
  revoke(refreshToken: string): Promise<void>
}

/** Reports that the refresh token is void, so that the person must log in again. */
export class LoginEndedError extends Error {
  override name = 'LoginEndedError'
}

/** Finds the issuer's endpoints. The signal ends all requests to it. Throws ExpectedError. */
export async function openOidcIssuer(
  client: OidcClient,
  { clock }: { readonly clock: Pick<Clock, 'setTimer'> },
  signal: AbortSignal,
): Promise<OidcIssuer> {
  // The library is large, and only logins need it.
  const openid = await import('openid-client')
  const fetch = issuerFetch({ authorityPem: client.authorityPem, clock, signal })
  const act = <T>(what: string, work: () => Promise<T>): Promise<T> =>
    explained(what, client, work, signal)
  const config = await act('Cannot find issuer', () => {
    const none = openid.None()
    const options = { [openid.customFetch]: fetch }
    return openid.discovery(new URL(client.issuerUrl), client.clientId, {}, none, options)
  })
  const scope = scopesOf(client, config)
  const begin = async (redirectUri: string) => {
    const verifier = openid.randomPKCECodeVerifier()
    const [state, nonce] = [openid.randomState(), openid.randomNonce()]
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      state,
      nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    return { url: url.href, checks: { verifier, state, nonce } }
  }
  const finish = async (answer: URL, { verifier, state, nonce }: OidcChecks) => {
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce }
    return tokensOf(await openid.authorizationCodeGrant(config, answer, checks))
  }
  return {
    logInByBrowser: (port, show) =>
      act('Cannot log in at', async () => {
        await using listener = await openLoopbackListener(port)
        const { url, checks } = await begin(listener.redirectUri)
        const answer = listener.answered(checks.state, signal)
        show(url)
        return finish(await answer, checks)
      }),
    beginLogin: (redirectUri) => act('Cannot log in at', () => begin(redirectUri)),
    finishLogin: (answer, checks) => act('Cannot log in at', () => finish(answer, checks)),
    logInByDevice: (show) =>
      act('Cannot log in at', async () => {
        requireDeviceEndpoint(config)
        const asked = await openid.initiateDeviceAuthorization(config, { scope })
        show({ url: printable(asked.verification_uri), code: printable(asked.user_code) })
        return tokensOf(
          await openid.pollDeviceAuthorizationGrant(config, asked, undefined, { signal }),
        )
      }),
    refresh: ({ refreshToken, subject }) =>
      act('Cannot refresh the login at', async () => {
        try {
          const found = tokensOf(await openid.refreshTokenGrant(config, refreshToken))
          // OpenID Connect Core, section 12.2.
          if (found.subject !== subject) throw new Error('it answers for somebody else')
          return { ...found, refreshToken: found.refreshToken ?? refreshToken }
        } catch (error) {
          const isEnded =
            error instanceof openid.ResponseBodyError && error.error === 'invalid_grant'
          throw isEnded ? new LoginEndedError(reasonOf(error), { cause: error }) : error
        }
      }),
    async revoke(refreshToken) {
      if (config.serverMetadata().revocation_endpoint === undefined) return
      await act('Cannot end the login at', () => openid.tokenRevocation(config, refreshToken))
    },
  }
}

/** The library's answer. It has verified issuer, audience, nonce and times. */
interface Answer {
  readonly id_token?: string
  readonly refresh_token?: string
  claims(): { readonly sub: string; readonly exp: number } | undefined
}

function tokensOf(answer: Answer): OidcTokens {
  const { id_token: idToken, refresh_token: refreshToken } = answer
  const claims = answer.claims()
  if (idToken === undefined || claims === undefined) throw new Error('it gives no ID token')
  return { idToken, refreshToken, expiresAtMs: claims.exp * 1_000, subject: claims.sub }
}

/** Requests offline_access only if the issuer knows it: some issuers refuse an unknown scope. */
function scopesOf({ scopes }: OidcClient, config: Configuration): string {
  // The library does not check this field.
  const offered: unknown = config.serverMetadata().scopes_supported
  const hasOffline = Array.isArray(offered) && offered.includes('offline_access')
  const offline = hasOffline ? ['offline_access'] : []
  return [...new Set(['openid', ...offline, ...scopes])].join(' ')
}

function requireDeviceEndpoint(config: Configuration): void {
  if (config.serverMetadata().device_authorization_endpoint !== undefined) return
  throw new Error('it knows no devices without a browser; leave out --device')
}

async function explained<T>(
  what: string,
  { issuerUrl }: OidcClient,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (signal.aborted) throw abortReason(signal)
    if (error instanceof ExpectedError || error instanceof LoginEndedError) throw error
    const text = `${what} ${issuerUrl}: ${reasonOf(error)}`
    throw new ExpectedError(text, exitCodes.failure, { cause: error })
  }
}

/** Returns the issuer's error, or the innermost cause. Neither contains tokens. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return printable(String(error))
  if ('error' in error && typeof error.error === 'string') {
    const more = 'error_description' in error ? error.error_description : undefined
    return printable(typeof more === 'string' ? `${error.error}: ${more}` : error.error)
  }
  return error.cause instanceof Error ? reasonOf(error.cause) : printable(error.message)
}

/** An issuer's text must not contain terminal commands. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\x00-\x1f\x7f-\x9f]/g, ' ').slice(0, textMax)
}

const { textMax } = clientBounds.oidcIssuer
