import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject } from '@skerry/api'
import type { Clock, Random } from '@skerry/base'
import type { OidcClient, OidcTokens } from '@skerry/client'
import { codeOf, writeFileDurably } from '../../runtime/data-directory.ts'

/** A person's login at an issuer, as it is kept between two commands. */
export interface LoginSession {
  readonly client: OidcClient
  /** True for a login without a browser. */
  readonly isDevice: boolean
  /** The origins of the hubs that get its tokens. */
  readonly hubs: readonly string[]
  /** If omitted, the login has ended, and the person logs in again. */
  readonly tokens?: OidcTokens | undefined
}

/** The key of a session: one file for each. */
export type SessionKey = Pick<OidcClient, 'issuerUrl' | 'clientId'>

const format = 1

/**
 * Returns the directory of logins, below the user's cache directory. A reader of these files can act as that
 * user until the login ends.
 */
export function loginDirectory(
  environment: Readonly<Record<string, string | undefined>>,
  home: string,
): string {
  const { XDG_CACHE_HOME: cache } = environment
  // Relative paths must be ignored (XDG base directory specification).
  return join(cache?.startsWith('/') ? cache : join(home, '.cache'), 'skerry', 'login')
}

function sessionPath(directory: string, { issuerUrl, clientId }: SessionKey): string {
  const hash = createHash('sha256').update(`${issuerUrl}\n${clientId}`).digest('hex').slice(0, 32)
  return join(directory, `${hash}.json`)
}

/** Resolves undefined if nobody has logged in, or the file is damaged or has another format. */
export async function readSession(
  directory: string,
  key: SessionKey,
): Promise<LoginSession | undefined> {
  return readSessionFile(sessionPath(directory, key))
}

async function readSessionFile(path: string): Promise<LoginSession | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
  return text === undefined ? undefined : parseSession(text)
}

export async function writeSession(directory: string, session: LoginSession): Promise<void> {
  const text = `${JSON.stringify({ format, ...session })}\n`
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFileDurably(sessionPath(directory, session.client), text)
}

export async function removeSession(directory: string, key: SessionKey): Promise<void> {
  await rm(sessionPath(directory, key), { force: true })
}

/** Takes the turn to change a session, so that only one process does at a time. */
export async function takeSessionTurn(
  directory: string,
  key: SessionKey,
  deps: { clock: Clock; random: Random },
  signal: AbortSignal,
): Promise<Disposable> {
  // Only commands that change a session need the store.
  const { takeFileTurn } = await import('@skerry/store')
  return takeFileTurn(`${sessionPath(directory, key)}.lock`, deps, signal)
}

export async function listSessions(directory: string): Promise<LoginSession[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  })
  const sessions: LoginSession[] = []
  for (const name of names.filter((each) => /^[0-9a-f]{32}\.json$/.test(each)).toSorted()) {
    const session = await readSessionFile(join(directory, name))
    if (session) sessions.push(session)
  }
  return sessions
}

function parseSession(text: string): LoginSession | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The file was cut off, so nobody is logged in.
    return undefined
  }
  if (!isJsonObject(value) || value['format'] !== format) return undefined
  const client = parseClient(value['client'])
  const { hubs, isDevice } = value
  if (!client || !isTexts(hubs)) return undefined
  const tokens = parseTokens(value['tokens'])
  return { client, hubs, isDevice: isDevice === true, ...(tokens ? { tokens } : {}) }
}

function parseClient(value: unknown): OidcClient | undefined {
  if (!isJsonObject(value)) return undefined
  const { issuerUrl, clientId, scopes, authorityPem } = value
  if (typeof issuerUrl !== 'string' || typeof clientId !== 'string') return undefined
  if (!isTexts(scopes)) return undefined
  return { issuerUrl, clientId, scopes, ...(typeof authorityPem === 'string' && { authorityPem }) }
}

function parseTokens(value: unknown): OidcTokens | undefined {
  if (!isJsonObject(value)) return undefined
  const { idToken, refreshToken, expiresAtMs, subject } = value
  if (typeof idToken !== 'string' || typeof subject !== 'string') return undefined
  if (typeof expiresAtMs !== 'number') return undefined
  return {
    idToken,
    expiresAtMs,
    subject,
    ...(typeof refreshToken === 'string' && { refreshToken }),
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
