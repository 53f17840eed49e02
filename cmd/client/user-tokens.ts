import { join } from 'node:path'
import { isStatusError, parseDurationMs, type Secret } from '@skerry/api'
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
import { openAdminCluster } from '../../roles/admin/admin-cluster.ts'
import { askMs } from '../limits-table.ts'

interface OnHub {
  /** The hub's data directory. */
  dataDir: string
  output: string | undefined
}

/** A token as people see it: never its secret. */
export interface UserTokenLine {
  id: string
  name: string
  groups: readonly string[]
  /** The expiry in RFC 3339; null if it is valid until it is removed. */
  expires: string | null
}

async function openHub({ dataDir }: OnHub): Promise<ClusterClient> {
  const { cluster } = await openAdminCluster(join(dataDir, 'admin.kubeconfig'))
  return cluster
}

export async function addUser(
  options: OnHub & { name: string; group: readonly string[]; ttl: string | undefined },
): Promise<void> {
  const { name, group: groups, ttl, output } = options
  const hub = await openHub(options)
  const request = { name, groups, ttlMs: ttl === undefined ? undefined : toTtlMs(ttl) }
  const made = await createUserToken(hub, request, Date.now(), AbortSignal.timeout(askMs))
  console.log(output === 'json' ? JSON.stringify(made) : made.token)
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
  await ensureNamespace(hub, signal)
  const secret = userTokenSecret({ entry, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) })
  await hub.resource(resources.secrets).create(secret, signal)
  const expires = expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString()
  return { id: entry.id, name, groups, expires, token }
}

async function ensureNamespace(hub: ClusterClient, signal: AbortSignal): Promise<void> {
  const metadata = { name: usersNamespace }
  try {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata }
    await hub.resource(resources.namespaces).create(object, signal)
  } catch (error) {
    // The namespace exists from the first user on.
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
}

export async function printUsers(options: OnHub): Promise<void> {
  const lines = await listUserTokens(await openHub(options), AbortSignal.timeout(askMs))
  if (options.output === 'json') return console.log(JSON.stringify(lines))
  const rows = lines.map(({ id, name, groups, expires }) => [
    name,
    id,
    groups.join(',') || '-',
    expires ?? 'never',
  ])
  for (const row of [['NAME', 'TOKEN ID', 'GROUPS', 'EXPIRES'], ...rows])
    console.log(row.join('\t'))
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

export async function removeUser(
  options: OnHub & { name: string; tokenId: string | undefined },
): Promise<void> {
  const { name, tokenId, output } = options
  const signal = AbortSignal.timeout(askMs)
  const removed = await removeUserTokens(await openHub(options), { name, tokenId }, signal)
  if (output === 'json') console.log(JSON.stringify({ user: name, removed }))
  else
    console.log(`Removed ${removed.length} ${removed.length === 1 ? 'token' : 'tokens'} of ${name}`)
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

function toTtlMs(text: string): number {
  const ms = parseDurationMs(text) ?? 0
  if (ms > 0) return ms
  const message = `Cannot add user: --ttl "${text}" is not a positive duration; use e.g. 12h or 720h`
  throw new ExpectedError(message, exitCodes.usage)
}
