/** The session of this browser at the hub. No page ever holds the credential itself. */
import { learnHubTime } from './hub-clock.ts'
import { asHubError } from './hub-error.ts'
import { askJson } from './hub-request.ts'

export interface Session {
  readonly user: string
  readonly groups: readonly string[]
  readonly expiresAt: string
  readonly serverTime: number | string
  readonly hub: { readonly name: string; readonly version: string }
}

export interface SessionOffers {
  readonly token: boolean
  readonly certificate: boolean
  readonly issuer: { readonly name: string; readonly loginURL: string } | null
}

/** One of these, or neither: then the credential of the connection counts, such as a client certificate. */
export type SessionCredential = { token: string } | { code: string } | Record<string, never>

const path = '/hub/v1/session'

/** Resolves undefined if the browser has no session. */
export async function readSession(): Promise<Session | undefined> {
  try {
    return learn(await askJson<Session>(path))
  } catch (thrown) {
    const error = asHubError(thrown)
    if (error.facts.code === 401) return undefined
    throw error
  }
}

export async function beginSession(credential: SessionCredential): Promise<Session> {
  return learn(await askJson<Session>(path, { method: 'POST', body: credential }))
}

/** A link that was used before leads to the session that it began, if this browser still has that one. */
export async function sessionOfCode(code: string): Promise<Session> {
  try {
    return await beginSession({ code })
  } catch (thrown) {
    if (asHubError(thrown).facts.code !== 401) throw thrown
    const session = await readSession()
    if (session === undefined) throw thrown
    return session
  }
}

export async function endSession(): Promise<void> {
  await askJson<void>(path, { method: 'DELETE' })
}

export function readOffers(): Promise<SessionOffers> {
  return askJson<SessionOffers>(`${path}/offers`)
}

/**
 * Takes the one-time code out of an address such as `/console/#code=…`, and returns the address without it, which must
 * replace the other one at once: the code must not stay in the history of the browser.
 */
export function takeLoginCode(url: string): { code: string; cleanUrl: string } | undefined {
  const at = new URL(url)
  const code = new URLSearchParams(at.hash.slice(1)).get('code')
  if (code === null || code === '') return undefined
  at.hash = ''
  return { code, cleanUrl: `${at.pathname}${at.search}` }
}

const loginProblems = ['issuer', 'expired', 'unknown'] as const

/** Why a login at the issuer failed, as the hub says it. */
export type LoginProblem = (typeof loginProblems)[number]

/**
 * Takes the reason of a failed login at the issuer out of an address such as `/console/login?problem=expired`, and returns the
 * address of the page that was asked for, or of the first one.
 */
export function takeLoginProblem(
  url: string,
): { problem: LoginProblem; cleanUrl: string } | undefined {
  const { origin, pathname, searchParams } = new URL(url)
  const problem = loginProblems.find((each) => each === searchParams.get('problem'))
  if (pathname !== '/console/login' || problem === undefined) return undefined
  // Anybody may have written the address: it leads to pages of the console alone.
  const page = new URL(searchParams.get('return') ?? '', `${origin}/console/`)
  const isOwn = page.origin === origin && page.pathname.startsWith('/console/')
  return { problem, cleanUrl: isOwn ? `${page.pathname}${page.search}` : '/console/' }
}

/** Returns the address of the issuer's login that leads back to the page which was asked for. */
export function loginAddress(loginURL: string, pageUrl: string): string {
  const page = new URL(pageUrl)
  const login = new URL(loginURL, page)
  login.searchParams.set('return', `${page.pathname}${page.search}`)
  return `${login.pathname}${login.search}`
}

function learn(session: Session): Session {
  const ms =
    typeof session.serverTime === 'number' ? session.serverTime : Date.parse(session.serverTime)
  if (Number.isFinite(ms)) learnHubTime(ms)
  return session
}
