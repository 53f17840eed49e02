import { isStatusError, type Secret } from '@skerry/api'
import { createStaticToken } from '@skerry/apiserver'
import { ExpectedError, exitCodes } from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import {
  readUserToken,
  userNameProblem,
  userTokenName,
  userTokenSecret,
  userTokenType,
  usersNamespace,
} from '@skerry/fleet-kinds'

/** A token as people see it: never its secret. */
export interface UserTokenLine {
  id: string
  name: string
  groups: readonly string[]
  /** The expiry in RFC 3339; null if it is valid until it is removed. */
  expires: string | null
}

/** Keeps the hash on the hub; the token is in the answer and nowhere else. Throws ExpectedError. */
export async function createUserToken(
  hub: ClusterClient,
  { name, groups, ttlMs }: { name: string; groups: readonly string[]; ttlMs: number | undefined },
  nowMs: number,
  signal: AbortSignal,
): Promise<UserTokenLine & { token: string }> {
  for (const [what, each] of [['name', name], ...groups.map((group) => ['group', group])]) {
    const problem = userNameProblem(each ?? '')
    if (problem === '') continue
    throw new ExpectedError(`Cannot add user: ${what} "${each}" ${problem}`, exitCodes.usage)
  }
  const { token, entry } = await createStaticToken({ name, groups, extra: {} })
  const expiresAtMs = ttlMs === undefined ? undefined : nowMs + ttlMs
  const secret = userTokenSecret({ entry, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) })
  const create = () => hub.resource(resources.secrets).create(secret, signal)
  try {
    await create()
  } catch (error) {
    // The namespace exists from the first user on, whose maker may write namespaces, too.
    if (!isStatusError(error, 'NotFound')) throw error
    await ensureNamespace(hub, signal)
    await create()
  }
  const expires = expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString()
  return { id: entry.id, name, groups, expires, token }
}

async function ensureNamespace(hub: ClusterClient, signal: AbortSignal): Promise<void> {
  const metadata = { name: usersNamespace }
  try {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata }
    await hub.resource(resources.namespaces).create(object, signal)
  } catch (error) {
    // Somebody else made it meanwhile.
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
}

export async function listUserTokens(
  hub: ClusterClient,
  signal: AbortSignal,
): Promise<UserTokenLine[]> {
  const request = { namespace: usersNamespace, fieldSelector: `type=${userTokenType}` }
  const { items } = await hub.resource(resources.secrets).list(request, signal)
  return items.flatMap((secret: Secret) => {
    const token = readUserToken(secret)
    if (!token) return []
    const { entry, expiresAtMs } = token
    const expires = expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString()
    return [{ id: entry.id, name: entry.user.name, groups: entry.user.groups, expires }]
  })
}

/** The ids of what was removed. Throws ExpectedError where there is none. */
export async function removeUserTokens(
  hub: ClusterClient,
  { name, tokenId }: { name: string; tokenId: string | undefined },
  signal: AbortSignal,
): Promise<string[]> {
  const all = await listUserTokens(hub, signal)
  const found = all.filter(
    (each) => each.name === name && (tokenId === undefined || each.id === tokenId),
  )
  if (found.length === 0) {
    const which = tokenId === undefined ? 'no token' : `no token ${tokenId}`
    throw new ExpectedError(
      `Cannot remove user "${name}": there is ${which}; "skerry user list" shows all`,
      exitCodes.usage,
    )
  }
  for (const { id } of found) {
    const key = { namespace: usersNamespace, name: userTokenName(id) }
    await hub.resource(resources.secrets).delete(key, signal)
  }
  return found.map(({ id }) => id)
}
