import { isJsonObject, type JsonObject } from '@skerry/api'
import { ExpectedError, exitCodes, type Clock, type Random } from '@skerry/base'
import { LoginEndedError, openOidcIssuer, type OidcTokens } from '@skerry/client'
import { logInAt } from './log-in-at.ts'
import {
  readSession,
  takeSessionTurn,
  writeSession,
  type LoginSession,
  type SessionKey,
} from './login-session.ts'
import { clientBounds } from '../limits-table.ts'

export interface CredentialOptions extends SessionKey {
  /** The directory of logins. */
  readonly directory: string
  /** True if a person sees the output, and may open an address. */
  readonly isInteractive: boolean
}

export interface CredentialDeps {
  readonly clock: Clock
  readonly random: Random
  /** Tells the person something, on standard error. */
  readonly tell: (text: string) => void
}

const { leftMsMin } = clientBounds.credential

/**
 * Returns the tokens of a login, refreshed if they have expired. If several processes need them, only one
 * refreshes, because a refresh token may work only once. Throws ExpectedError.
 */
export async function currentTokens(
  options: CredentialOptions,
  deps: CredentialDeps,
  signal: AbortSignal,
): Promise<OidcTokens> {
  const { directory } = options
  const found = await readSession(directory, options)
  if (found === undefined) throw notLoggedIn(options)
  if (isFresh(found, deps.clock)) return found.tokens
  using _turn = await takeSessionTurn(directory, options, deps, signal)
  const session = await readSession(directory, options)
  if (session === undefined) throw notLoggedIn(options)
  if (isFresh(session, deps.clock)) return session.tokens
  const tokens = await nextTokens(session, options, deps, signal)
  await writeSession(directory, { ...session, tokens })
  return tokens
}

function notLoggedIn({ issuerUrl }: SessionKey): ExpectedError {
  const text = `Cannot get a token of ${issuerUrl}: nobody has logged in there; run "skerry login <hub>"`
  return new ExpectedError(text, exitCodes.missingRight)
}

type FreshSession = LoginSession & { readonly tokens: OidcTokens }

function isFresh(session: LoginSession | undefined, clock: Clock): session is FreshSession {
  const tokens = session?.tokens
  return tokens !== undefined && tokens.expiresAtMs - leftMsMin > clock.now()
}

async function nextTokens(
  session: LoginSession,
  options: CredentialOptions,
  deps: CredentialDeps,
  signal: AbortSignal,
): Promise<OidcTokens> {
  const { client, isDevice, tokens } = session
  const why = await refreshed(session, deps, signal)
  if (typeof why !== 'string') return why
  // A void token is removed, so that no process tries it again.
  if (tokens) await writeSession(options.directory, { ...session, tokens: undefined })
  if (options.isInteractive) {
    deps.tell(`The login at ${client.issuerUrl} has ended (${why}).`)
    return logInAt(client, { isDevice, port: 0, tell: deps.tell, clock: deps.clock }, signal)
  }
  const again = `skerry login ${session.hubs[0] ?? '<hub>'}${isDevice ? ' --device' : ''}`
  throw new ExpectedError(
    `Cannot refresh the login at ${client.issuerUrl}: it has ended (${why}); run "${again}"`,
    exitCodes.missingRight,
  )
}

/** Resolves with new tokens, or with the reason why the person must log in again. */
async function refreshed(
  { client, tokens }: LoginSession,
  deps: CredentialDeps,
  signal: AbortSignal,
): Promise<OidcTokens | string> {
  if (!tokens) return 'it was over before'
  const { refreshToken, subject } = tokens
  if (refreshToken === undefined) return 'the issuer gave no refresh token'
  try {
    const issuer = await openOidcIssuer(client, deps, signal)
    return await issuer.refresh({ refreshToken, subject })
  } catch (error) {
    if (error instanceof LoginEndedError) return error.message
    throw error
  }
}

/** Returns a client.authentication.k8s.io ExecCredential in the version that the client requested. */
export function execCredentialOf(tokens: OidcTokens, apiVersion: string): string {
  const { idToken, expiresAtMs } = tokens
  // The client asks again after that time.
  const expirationTimestamp = new Date(expiresAtMs - leftMsMin).toISOString()
  return JSON.stringify({
    kind: 'ExecCredential',
    apiVersion,
    status: { token: idToken, expirationTimestamp: expirationTimestamp.replace(/\.\d+Z$/, 'Z') },
  })
}

export interface ExecInfo {
  readonly apiVersion: string
  /** A person sees standard error. */
  readonly isInteractive: boolean
}

/** The first is the default of clients that do not name a version: kubectl before 1.20 uses the kubeconfig's version without asking. */
const apiVersions = ['v1beta1', 'v1'].map((version) => `client.authentication.k8s.io/${version}`)

/**
 * Parses KUBERNETES_EXEC_INFO, as the client sets it; a person who starts the program gets the defaults.
 * Throws ExpectedError.
 */
export function readExecInfo(text = '{}'): ExecInfo {
  const { apiVersion, spec } = parseObject(text)
  const found = apiVersions.find((each) => each === apiVersion)
  if (apiVersion !== undefined && found === undefined) {
    throw new ExpectedError(
      `Cannot give credentials as ${JSON.stringify(apiVersion)}: write apiVersion ${apiVersions.join(' or ')} in the kubeconfig`,
      exitCodes.usage,
    )
  }
  const isInteractive = isJsonObject(spec) && spec['interactive'] === true
  return { apiVersion: found ?? apiVersions[0] ?? '', isInteractive }
}

function parseObject(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const why = 'Cannot read KUBERNETES_EXEC_INFO: it is not JSON; unset it'
    throw new ExpectedError(why, exitCodes.usage, { cause })
  }
  return isJsonObject(value) ? value : {}
}
