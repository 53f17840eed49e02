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
