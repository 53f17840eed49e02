import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { isStatusError } from '@skerry/api'
import { ExpectedError, exitCodes, systemClock, type Clock } from '@skerry/base'
import { readFileIfPresent, secretMode, writeFileDurably } from '@skerry/bootstrap'
import { resources, type ClusterClient } from '@skerry/client'
import { parse } from 'yaml'
import { openAdminCluster } from '../../roles/admin/admin-cluster.ts'
import { ownKeysPath } from '../../roles/control-plane/access-files.ts'
import {
  encryptionConfigOf,
  fileHash,
  type EncryptionKey,
} from '../../roles/control-plane/encryption-keys.ts'
import { replicaKeyPath } from '../../roles/control-plane/shared-keys.ts'
import { commandBounds } from '../limits-table.ts'

const { pollMs, rewriteAttemptsMax } = commandBounds.rotateEncryption

/** A new key writes from now on, every secret is written with it, and the old keys go. */
export async function rotateEncryption(
  dataDir: string,
  onStep: (text: string) => void,
  signal: AbortSignal,
): Promise<{ keyName: string; secrets: number }> {
  const path = ownKeysPath(dataDir)
  await refuseReplicas(dataDir)
  const keys = await readKeys(path)
  const { cluster } = await openAdminCluster(join(dataDir, 'admin.kubeconfig'))
  const key = { name: nextName(keys), secret: randomBytes(32).toString('base64') }
  const put = async (next: readonly EncryptionKey[]): Promise<void> => {
    const text = encryptionConfigOf(next)
    await writeFileDurably(path, text, secretMode)
    await untilUsed(cluster, fileHash(text), systemClock, signal)
  }
  await put([key, ...keys])
  onStep(`${key.name} writes from now on`)
  const secrets = await rewriteSecrets(cluster, signal)
  onStep(`${secrets} secrets are written with it`)
  await put([key])
  return { keyName: key.name, secrets }
}

/** Refuses if there are replicas: one that still wrote with the old key while stopping would lose its writes. */
async function refuseReplicas(dataDir: string): Promise<void> {
  if ((await readFileIfPresent(replicaKeyPath(dataDir))) === undefined) return
  throw new ExpectedError(
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

async function untilUsed(
  cluster: ClusterClient,
  hash: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const answer = await cluster.raw({ method: 'GET', path: '/metrics', headers: {} }, signal)
    const pieces: Uint8Array[] = []
    for await (const piece of answer.body) pieces.push(piece)
    if (Buffer.concat(pieces).includes(`last_config_info{hash="${hash}"} 1`)) return
    await clock.sleep(pollMs, signal)
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
