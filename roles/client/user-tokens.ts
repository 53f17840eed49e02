import { join } from 'node:path'
import { parseDurationMs } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import { openAdminCluster } from '../admin/admin-cluster.ts'
import { createUserToken, listUserTokens, removeUserTokens } from '../admin/user-tokens.ts'
import { askMs } from './limits-table.ts'

interface OnHub {
  /** The hub's data directory. */
  dataDir: string
  output: string | undefined
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

function toTtlMs(text: string): number {
  const ms = parseDurationMs(text) ?? 0
  if (ms > 0) return ms
  const message = `Cannot add user: --ttl "${text}" is not a positive duration; use e.g. 12h or 720h`
  throw new ExpectedError(message, exitCodes.usage)
}
