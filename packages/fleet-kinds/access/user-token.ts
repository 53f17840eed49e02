import { isJsonObject, type AnyObject, type Secret } from '@skerry/api'
import type { Objects, StaticToken } from '@skerry/apiserver'

/** A user who may write Secrets in this namespace decides who the hub's users are. */
export const usersNamespace = 'skerry-users'
export const userTokenType = 'hub.skerry.io/user-token'

/** One stored token of a user: never the token itself. */
export interface UserToken {
  readonly entry: StaticToken
  /** Milliseconds since the Unix epoch. If omitted, the token is valid until it is removed. */
  readonly expiresAtMs?: number
}

const secretPrefix = 'user-token-'
/** The key of a user's extras that names the token to clusters. */
export const tokenIdKey = 'hub.skerry.io/token-id'
/** The key of a user's extras that names the session of a browser. It stays at the hub. */
export const sessionIdKey = 'hub.skerry.io/session-id'

export function userTokenName(id: string): string {
  return `${secretPrefix}${id}`
}

/**
 * Returns why a user cannot have this name; an empty string if it is allowed. System names are reserved for
 * Skerry's own parts.
 */
export function userNameProblem(name: string): string {
  if (name === '' || name.length > 253) return 'must have 1 to 253 characters'
  // oxlint-disable-next-line no-control-regex
  if (/[\x00-\x1f\x7f]/.test(name)) return 'must not have control characters'
  return name.startsWith('system:') ? 'must not begin with "system:"' : ''
}

export function userTokenSecret({ entry, expiresAtMs }: UserToken): Secret {
  const { id, salt, hash, user } = entry
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: usersNamespace, name: userTokenName(id) },
    type: userTokenType,
    immutable: true,
    stringData: {
      'token-id': id,
      salt,
      hash,
      user: user.name,
      groups: JSON.stringify(user.groups),
      ...(expiresAtMs === undefined ? {} : { expiration: new Date(expiresAtMs).toISOString() }),
    },
  }
}

/** Returns undefined if the Secret is not a user's token, or names a user that nobody may be. */
export function readUserToken(secret: AnyObject | Secret): UserToken | undefined {
  if (secret['type' as keyof typeof secret] !== userTokenType) return undefined
  const text = (key: string): string => textOf(secret, key)
  const id = text('token-id')
  const name = text('user')
  const groups = readGroups(text('groups'))
  if (secret.metadata.name !== userTokenName(id) || groups === undefined) return undefined
  if ([name, ...groups].some((each) => userNameProblem(each) !== '')) return undefined
  const user = { name, groups, extra: { [tokenIdKey]: [id] } }
  const entry = { id, salt: text('salt'), hash: text('hash'), user }
  if (entry.salt === '' || entry.hash === '') return undefined
  const expiration = text('expiration')
  if (expiration === '') return { entry }
  // An unreadable time counts as long past.
  return { entry, expiresAtMs: Date.parse(expiration) || 0 }
}

/** Looks up the token's claimed id in the present objects, so that a removed token is invalid at once. */
export function findUserToken(
  objects: Objects,
  id: string,
  nowMs: number,
): StaticToken | undefined {
  if (!/^[0-9a-f]{12}$/.test(id)) return undefined
  const secrets = { group: '', resource: 'secrets' }
  const secret = objects.get(secrets, usersNamespace, userTokenName(id))
  if (!secret || secret.metadata.deletionTimestamp !== undefined) return undefined
  const token = readUserToken(secret)
  if (!token || (token.expiresAtMs !== undefined && token.expiresAtMs <= nowMs)) return undefined
  return token.entry
}

function textOf(secret: AnyObject | Secret, key: string): string {
  const data: unknown = 'data' in secret ? secret.data : undefined
  const value = isJsonObject(data) ? data[key] : undefined
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : ''
}

function readGroups(text: string): string[] | undefined {
  let groups: unknown
  try {
    groups = JSON.parse(text)
  } catch {
    // A person wrote it by hand, with a mistake.
    return undefined
  }
  return Array.isArray(groups) && groups.every((each) => typeof each === 'string')
    ? groups
    : undefined
}
