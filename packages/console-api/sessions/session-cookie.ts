import type { Credentials } from '@skerry/apiserver'
import { consoleBounds } from '../limits-table.ts'

export const sessionCookie = '__Host-skerry-session'
/** Kept while a person logs in at an issuer. */
export const loginCookie = '__Host-skerry-login'
/** A page of another origin cannot set it without a preflight, which the hub never answers (Fetch, 4.8). */
const consoleHeader = 'x-skerry-console'

type Headers = Credentials['headers']

/**
 * Returns the values of this cookie. A browser sends one; several mean that somebody else has set one, too, and none of
 * them counts.
 */
export function cookieValue({ cookie = '' }: Headers, name: string): string | undefined {
  const prefix = `${name}=`
  const found = cookie
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
  const [only] = found
  return found.length === 1 ? only?.slice(prefix.length) : undefined
}

/**
 * Returns the session's secret if the request is the console's own: it has the console's header, or it is an upgrade of
 * a page of this host. No navigation, form or other page is ever logged in.
 */
export function sessionSecret(headers: Headers): string | undefined {
  const secret = cookieValue(headers, sessionCookie)
  if (secret === undefined || headers['authorization'] !== undefined) return undefined
  const isOwn = headers['upgrade'] === undefined ? hasConsoleHeader(headers) : isOwnPage(headers)
  return isOwn ? secret : undefined
}

function hasConsoleHeader(headers: Headers): boolean {
  return headers[consoleHeader] === '1'
}

function isOwnPage({ origin = '', host = '' }: Headers): boolean {
  if (host === '' || !URL.canParse(origin)) return false
  const own = `https://${host}`
  return URL.canParse(own) && new URL(origin).origin === new URL(own).origin
}

export function setSession(secret: string): string {
  const seconds = consoleBounds.sessions.lifetimeMs / 1_000
  return `${sessionCookie}=${secret}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=${seconds}`
}

export function clearSession(): string {
  return `${sessionCookie}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0`
}

/** It must come back with a redirect from the issuer's site, so it is Lax. */
export function setLogin(value: string): string {
  const seconds = consoleBounds.issuerLogin.personMs / 1_000
  return `${loginCookie}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${seconds}`
}

export function clearLogin(): string {
  return `${loginCookie}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0`
}
