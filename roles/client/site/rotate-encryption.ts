import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { isStatusError } from '@skerry/api'
import { ExpectedError, exitCodes, silentLogger, systemClock, withTimeout } from '@skerry/base'
import { readFileIfPresent, secretMode, writeFileDurably } from '@skerry/bootstrap'
import {
  createCluster,
  createHttpsTransport,
  loadKubeconfig,
  readBody,
  resources,
  type ClusterClient,
} from '@skerry/client'
import { parse } from 'yaml'
import { openAdminCluster } from '../../admin/admin-cluster.ts'
import { ownKeysPath } from '../../control-plane/access-files.ts'
import {
  encryptionConfigOf,
  fileHash,
  type EncryptionKey,
} from '../../control-plane/encryption-keys.ts'
import { replicaKeyPath } from '../../control-plane/shared-keys.ts'
import { version } from '../../runtime/version.ts'
import { advertisedServers } from '../../admin/site-info.ts'
import { clientBounds } from '../limits-table.ts'

const userAgent = `skerry/${version}`
const { pollMs, usedMsMax, answerMs, rewriteAttemptsMax } = clientBounds.rotateEncryption

/** The API servers that have the same keys now, by URL. */
export type SharingServers = (signal: AbortSignal) => Promise<ReadonlyMap<string, ClusterClient>>

/**
 * A new key writes from now on, every secret is written with it, and the old keys go. `sharing` is for tests; if omitted,
 * the masters that the site names.
 */
export async function rotateEncryption(
  dataDir: string,
  onStep: (text: string) => void,
  signal: AbortSignal,
  sharing?: SharingServers,
): Promise<{ keyName: string; secrets: number }> {
  const path = ownKeysPath(dataDir)
  const keys = await readKeys(path)
  const kubeconfig = join(dataDir, 'admin.kubeconfig')
  const { cluster, server } = await openAdminCluster(kubeconfig)
  const isShared = (await readFileIfPresent(replicaKeyPath(dataDir))) !== undefined
  const masters = sharing ?? ((scope) => mastersOf(kubeconfig, cluster, scope))
  const servers: SharingServers = isShared ? masters : async () => new Map([[server, cluster]])
  // Before anything is changed: each of them must be there to learn the new key.
  await servers(signal)
  const key = { name: nextName(keys), secret: randomBytes(32).toString('base64') }
  const put = async (next: readonly EncryptionKey[]): Promise<void> => {
    const text = encryptionConfigOf(next)
    await writeFileDurably(path, text, secretMode)
    await untilUsed(servers, fileHash(text), signal)
  }
  if (isShared) {
    await put([...keys, key])
    onStep(`each master can read ${key.name}`)
  }
  await put([key, ...keys])
  onStep(`${key.name} writes from now on`)
  const secrets = await rewriteSecrets(cluster, signal)
  onStep(`${secrets} secrets are written with it`)
  await put([key])
  return { keyName: key.name, secrets }
}

/** Opens each master that lives. Throws ExpectedError for replicas of a hub, which nothing names here. */
async function mastersOf(
  kubeconfig: string,
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ClusterClient>> {
  const urls = await advertisedServers(cluster, signal).catch((error: unknown) => {
    if (isStatusError(error, 'NotFound')) return []
    throw error
  })
  if (urls.length === 0) throw replicasOfHub()
  const deps = { clock: systemClock, environment: process.env, log: silentLogger, userAgent }
  const { transport } = await loadKubeconfig(kubeconfig, {}, deps)
  return new Map(
    urls.map((server) => [
      server,
      createCluster(createHttpsTransport({ ...transport, server }, deps), deps),
    ]),
  )
}

function replicasOfHub(): ExpectedError {
  return new ExpectedError(
    'Cannot rotate the key: other replicas have the same key; give each the same --encryption-provider-config and change that file in three steps (docs/operating.md, Encryption at rest)',
    exitCodes.failure,
  )
}

async function readKeys(path: string): Promise<EncryptionKey[]> {
  const text = await readFileIfPresent(path)
  if (text === undefined) {
    throw new ExpectedError(
      `Cannot rotate the key: there is no ${path}; is --data-dir that of a site or hub?`,
      exitCodes.failure,
    )
  }
  // The server refuses to run with a file of another shape; what is not there shows as no keys.
  const config = parse(text) as {
    resources?: { providers?: { aesgcm?: { keys?: EncryptionKey[] } }[] }[]
  }
  const keys = config.resources?.[0]?.providers?.[0]?.aesgcm?.keys ?? []
  if (text === encryptionConfigOf(keys)) return keys
  throw new ExpectedError(
    `Cannot rotate the key: ${path} was changed by hand; change it by hand again`,
    exitCodes.failure,
  )
}

export function nextName(keys: readonly EncryptionKey[]): string {
  const numbers = keys.map(({ name }) => Number(/^key(\d+)$/.exec(name)?.[1] ?? 0))
  return `key${Math.max(0, ...numbers) + 1}`
}

/** Waits until each server uses the keys. Throws ExpectedError with the names of those that do not in time. */
async function untilUsed(
  servers: SharingServers,
  hash: string,
  signal: AbortSignal,
): Promise<void> {
  const lateMs = systemClock.monotonicMs() + usedMsMax
  for (;;) {
    const all = await servers(signal)
    const used = await Promise.all([...all.values()].map((each) => uses(each, hash, signal)))
    if (!used.includes(false)) return
    const missing = [...all.keys()].filter((_, at) => !used[at])
    if (systemClock.monotonicMs() > lateMs) {
      throw new ExpectedError(
        `Cannot rotate the key: ${missing.join(', ')} does not use it yet; nothing is lost, run the command again when it does or is stopped`,
        exitCodes.failure,
      )
    }
    await systemClock.sleep(pollMs, signal)
  }
}

/** A server that does not answer uses nothing new, as far as is known. */
async function uses(cluster: ClusterClient, hash: string, signal: AbortSignal): Promise<boolean> {
  const limit = { ms: answerMs, message: 'no answer in time', clock: systemClock }
  try {
    return await withTimeout(limit, signal, async (scope) => {
      const answer = await cluster.raw({ method: 'GET', path: '/metrics', headers: {} }, scope)
      const text = await readBody(answer.body)
      return text.includes(`last_config_info{hash="${hash}"} 1`)
    })
  } catch {
    // The caller names it if that stays so.
    signal.throwIfAborted()
    return false
  }
}

async function rewriteSecrets(cluster: ClusterClient, signal: AbortSignal): Promise<number> {
  const client = secretsOf(cluster)
  let count = 0
  for await (const page of client.pages({}, signal)) {
    for (const { metadata } of page.items) {
      if (await rewriteOne(client, metadata, signal)) count += 1
    }
  }
  return count
}

/** Writes the same value again, which the server then encrypts with the new key. */
async function rewriteOne(
  client: ReturnType<typeof secretsOf>,
  { name = '', namespace = '' }: { name?: string; namespace?: string },
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.update(await client.get({ name, namespace }, signal), signal)
      return true
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return false
      if (!isStatusError(error, 'Conflict') || attempt >= rewriteAttemptsMax) throw error
    }
  }
}

function secretsOf(cluster: ClusterClient) {
  return cluster.resource(resources.secrets)
}
