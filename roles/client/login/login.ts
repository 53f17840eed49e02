import { homedir } from 'node:os'
import { join } from 'node:path'
import { ExpectedError, exitCodes, systemClock, systemRandom } from '@skerry/base'
import { fixedCredentials, openOidcIssuer, type OidcClient } from '@skerry/client'
import { loginOffersPath, readLoginOffers, type LoginOffer } from '@skerry/gateway'
import { readText } from '../../runtime/read-config-file.ts'
import { getFromHub, hubOrigin } from '../kubeconfig/ask-hub.ts'
import { currentTokens } from './credential.ts'
import { execEntry } from '../kubeconfig/exec-entry.ts'
import { writeHubKubeconfig, type KubeconfigLogin } from '../kubeconfig/hub-kubeconfig.ts'
import { logInAt } from './log-in-at.ts'
import {
  listSessions,
  readSession,
  removeSession,
  takeSessionTurn,
  writeSession,
  type SessionKey,
} from './login-session.ts'

export interface LoginOptions {
  /** The hub's URL, https://host:port. */
  readonly hub: string
  readonly caFile: string | undefined
  /** Chooses one of the hub's issuers; if a client is given, the hub is not asked. */
  readonly issuer: string | undefined
  readonly clientId: string | undefined
  readonly issuerCaFile: string | undefined
  /** Scopes in addition to those that the hub names. */
  readonly scope: readonly string[]
  readonly isDevice: boolean
  readonly port: number
  /** Gets the contexts. */
  readonly outputFile: string
  readonly hostNames: boolean | undefined
  readonly prefix: string
}

export interface LoginDeps {
  /** The directory of logins. */
  readonly directory: string
  /** The command that starts this program. */
  readonly command: readonly string[]
  readonly tell: (text: string) => void
  readonly open?: (url: string) => void
}

const seams = Object.freeze({ clock: systemClock, random: systemRandom })

export interface LoggedIn {
  readonly hub: string
  readonly issuer: string
  readonly clientId: string
  readonly file: string
  /** The contexts of this hub in that file. */
  readonly contexts: readonly string[]
}

/**
 * Logs a person in, and writes contexts that use the login. A login that the hub refuses is not kept. Throws
 * ExpectedError.
 */
export async function logIn(
  options: LoginOptions,
  deps: LoginDeps,
  signal: AbortSignal,
): Promise<LoggedIn> {
  const hub = hubOrigin(options.hub)
  const client = await chooseClient({ ...options, hub }, signal)
  const known = await readSession(deps.directory, client)
  const hubs = known?.hubs ?? []
  requireSameFleet({ ...options, hub }, client, hubs)
  deps.tell(`Logging in at ${client.issuerUrl} as client ${client.clientId}, for ${hub}.`)
  const tokens = await logInAt(client, { ...seams, ...deps, ...options }, signal)
  const login = {
    exec: oidcEntry(client, deps.command),
    credentials: fixedCredentials({ bearerToken: tokens.idToken }),
  }
  const noFiles = { tokenFile: undefined, clientCertificate: undefined, clientKey: undefined }
  const config = await writeHubKubeconfig({ ...options, ...noFiles, hub, login }, signal)
  const { isDevice } = options
  const session = { client, isDevice, hubs: [...new Set([...hubs, hub])], tokens }
  using _turn = await takeSessionTurn(deps.directory, client, seams, signal)
  await writeSession(deps.directory, session)
  return {
    hub,
    issuer: client.issuerUrl,
    clientId: client.clientId,
    file: options.outputFile,
    contexts: contextsOf(config, `${options.prefix}hub-user`),
  }
}

type AtHub = LoginOptions & { readonly hub: string }

async function chooseClient(options: AtHub, signal: AbortSignal): Promise<OidcClient> {
  const { issuer, clientId, scope, issuerCaFile } = options
  const authorityPem = issuerCaFile === undefined ? undefined : await readText(issuerCaFile)
  if (issuer !== undefined && clientId !== undefined) {
    return { issuerUrl: requireTls(issuer), clientId, scopes: scope, authorityPem }
  }
  if (clientId !== undefined) throw wrong('--client-id needs --issuer')
  const offer = chooseOffer(await askOffers(options, signal), options)
  return {
    issuerUrl: offer.issuerUrl,
    clientId: offer.clientId,
    scopes: [...offer.scopes, ...scope],
    authorityPem: authorityPem ?? offer.certificateAuthority,
  }
}

function requireTls(issuer: string): string {
  if (URL.canParse(issuer) && new URL(issuer).protocol === 'https:') return issuer
  throw wrong(`--issuer "${issuer}" is not an https:// address`)
}

async function askOffers({ hub, caFile }: AtHub, signal: AbortSignal): Promise<LoginOffer[]> {
  const ca = caFile === undefined ? undefined : await readText(caFile)
  const { status, text } = await getFromHub({ hub, ca }, loginOffersPath, signal)
  const offers = status === 200 ? readLoginOffers(text) : undefined
  if (offers) return offers
  throw wrong(
    `hub ${hub} does not say where (${status}); pass --issuer and --client-id, or use a token: "skerry kubeconfig --hub ${hub} --token-file"`,
  )
}

function chooseOffer(offers: readonly LoginOffer[], { hub, issuer }: AtHub): LoginOffer {
  const found = offers.filter(({ issuerUrl }) => issuer === undefined || issuerUrl === issuer)
  const [only, ...others] = found
  if (only && others.length === 0) return only
  const names = offers.map(({ issuerUrl }) => issuerUrl).join(', ')
  if (only) throw wrong(`hub ${hub} has several issuers; pass --issuer with one of ${names}`)
  throw wrong(`hub ${hub} has no such issuer; it has ${names === '' ? 'none' : names}`)
}

/**
 * Refuses a client that another fleet uses: a hub that names it would get tokens that are valid there. A
 * person who owns both names the client explicitly.
 */
function requireSameFleet(
  { hub, clientId }: AtHub,
  client: OidcClient,
  hubs: readonly string[],
): void {
  const [other] = hubs.filter((each) => each !== hub)
  if (other === undefined || hubs.includes(hub) || clientId !== undefined) return
  throw wrong(
    `hub ${hub} names the client that you use for ${other}, so it would get tokens that are good there; if both are of one fleet, pass --issuer ${client.issuerUrl} --client-id ${client.clientId}`,
  )
}

function oidcEntry({ issuerUrl, clientId }: SessionKey, command: readonly string[]) {
  const words = ['credential', 'oidc', '--issuer', issuerUrl, '--client-id', clientId]
  return execEntry(command, words)
}

function contextsOf(config: Readonly<Record<string, unknown>>, user: string): string[] {
  const list: unknown = config['contexts']
  if (!Array.isArray(list)) return []
  // The type is the one that mergeKubeconfig writes.
  const contexts = list as { name: string; context?: { user?: string } }[]
  return contexts.filter(({ context }) => context?.user === user).map(({ name }) => name)
}

/** The login that is kept for this hub; undefined where there is none, or there are several. */
export async function loginForHub(
  hub: string,
  { directory, command, tell }: LoginDeps,
): Promise<KubeconfigLogin | undefined> {
  const origin = hubOrigin(hub)
  const [only, ...others] = (await listSessions(directory)).filter(({ hubs }) =>
    hubs.includes(origin),
  )
  if (!only || others.length > 0) return undefined
  const options = { ...only.client, directory, isInteractive: false }
  const deps = { ...seams, tell }
  return {
    exec: oidcEntry(only.client, command),
    credentials: async (signal) => ({
      bearerToken: (await currentTokens(options, deps, signal)).idToken,
    }),
  }
}

export interface LoggedOut {
  readonly issuer: string
  /** All hubs that used this login. */
  readonly hubs: readonly string[]
  /** If omitted, the issuer has revoked the login, or has no way to. */
  readonly notRevoked?: string
}

/** Revokes and forgets the logins of a hub; its contexts stay. Throws ExpectedError if there is none. */
export async function logOut(
  hub: string,
  directory: string,
  signal: AbortSignal,
): Promise<LoggedOut[]> {
  const origin = hubOrigin(hub)
  const sessions = (await listSessions(directory)).filter(({ hubs }) => hubs.includes(origin))
  if (sessions.length === 0) {
    throw new ExpectedError(
      `Cannot log out of ${origin}: nobody is logged in there`,
      exitCodes.usage,
    )
  }
  const ended: LoggedOut[] = []
  for (const { client, hubs, tokens } of sessions) {
    using _turn = await takeSessionTurn(directory, client, seams, signal)
    await removeSession(directory, client)
    const notRevoked = await revoke(client, tokens?.refreshToken, signal)
    ended.push({ issuer: client.issuerUrl, hubs, ...(notRevoked ? { notRevoked } : {}) })
  }
  return ended
}

/** Resolves with the reason for a failure; an unreachable issuer must not prevent the logout on this machine. */
async function revoke(
  client: OidcClient,
  refreshToken: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (refreshToken === undefined) return undefined
  try {
    await (await openOidcIssuer(client, seams, signal)).revoke(refreshToken)
    return undefined
  } catch (error) {
    if (error instanceof ExpectedError) return error.message
    throw error
  }
}

/** Returns kubectl's file: the first of KUBECONFIG, or the user's own. */
export function kubeconfigDefault(
  environment: Readonly<Record<string, string | undefined>>,
  home = homedir(),
): string {
  const [first = ''] = (environment['KUBECONFIG'] ?? '').split(':')
  return first === '' ? join(home, '.kube', 'config') : first
}

function wrong(why: string): ExpectedError {
  return new ExpectedError(`Cannot log in: ${why}`, exitCodes.usage)
}
