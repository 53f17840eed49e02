import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { publicMode, readFileIfPresent, secretMode, writeFileDurably } from '@skerry/bootstrap'
import { readCertificate, spkiHash } from '@skerry/pki'
import type { Store } from '@skerry/store'
import { readText } from '../runtime/read-config-file.ts'
import { keyBytes, seal, unseal } from './sealed-record.ts'

/**
 * The files that all replicas of a control plane must share: the signing authorities, and the keys of
 * Secrets.
 */
const sharedFiles: Readonly<Record<string, number>> = Object.freeze({
  'ca.crt': publicMode,
  'ca.key': secretMode,
  'front-proxy-ca.crt': publicMode,
  'front-proxy-ca.key': secretMode,
  'sa.pub': publicMode,
  'sa.key': secretMode,
  'encryption.yaml': secretMode,
})

const authorityFiles: ReadonlySet<string> = new Set(['ca.crt', 'front-proxy-ca.crt'])

/** The key of the record in the store. */
export const sharedKeysRecord = '/replicas/keys'
const purpose = 'skerry shared keys 1'

/** The one file that a further replica needs: it opens the keys that are in the store. */
export function replicaKeyPath(directory: string): string {
  return join(directory, 'pki', 'replica.key')
}

/**
 * Copies the keys that the first replica has shared into this one's pki/; resolves false if none has yet.
 * `keyFile` is another replica's replica.key, needed once. Throws ExpectedError if that is missing or another
 * cluster's, or pki/ has other keys.
 */
export async function fetchSharedKeys(
  store: Store,
  directory: string,
  keyFile?: string,
): Promise<boolean> {
  const { entry } = await store.get(sharedKeysRecord)
  if (!entry) return false
  const path = replicaKeyPath(directory)
  const own = await readFileIfPresent(path)
  const text = own ?? (keyFile === undefined ? undefined : await readText(keyFile))
  const from = own === undefined && keyFile !== undefined ? keyFile : path
  if (text === undefined) throw missingKey(path)
  const files = opened(entry.value, parseKey(text, from), from)
  await refuseOthers(files, directory)
  await mkdir(join(directory, 'pki'), { recursive: true, mode: 0o700 })
  for (const [name, mode] of Object.entries(sharedFiles)) {
    const text = files[name]
    const target = join(directory, 'pki', name)
    const present = await readFileIfPresent(target)
    if (text === undefined || present === text) continue
    if (authorityFiles.has(name) && present && isSameAuthority(present, text)) continue
    await writeFileDurably(target, text, mode)
  }
  if (own === undefined) await writeFileDurably(path, text, secretMode)
  return true
}

/** The keys that all share, and the revision of their record. */
export interface SharedKeys {
  readonly revision: number
  readonly files: Readonly<Record<string, string>>
}

/** Resolves undefined if nothing is shared. Throws ExpectedError if this replica’s key does not open the record. */
export async function readSharedKeys(
  store: Store,
  directory: string,
): Promise<SharedKeys | undefined> {
  const { entry } = await store.get(sharedKeysRecord)
  if (!entry) return undefined
  const path = replicaKeyPath(directory)
  const text = await readFileIfPresent(path)
  if (text === undefined) throw missingKey(path)
  return { revision: entry.modRevision, files: opened(entry.value, parseKey(text, path), path) }
}

/** Replaces one of the files for all; resolves false if the record is no longer the one that was read. */
export async function replaceSharedFile(
  store: Store,
  directory: string,
  { known, name, text }: { known: SharedKeys; name: string; text: string },
): Promise<boolean> {
  const path = replicaKeyPath(directory)
  const key = parseKey((await readFileIfPresent(path)) ?? '', path)
  const { isApplied } = await store.write({
    key: sharedKeysRecord,
    value: seal(JSON.stringify({ ...known.files, [name]: text }), key, purpose),
    expectRevision: known.revision,
  })
  return isApplied
}

/** Stores this replica's keys for the others, sealed with a key that never leaves replica.key. */
export async function shareKeys(store: Store, directory: string): Promise<void> {
  const files: Record<string, string> = {}
  for (const name of Object.keys(sharedFiles)) {
    const text = await readFileIfPresent(join(directory, 'pki', name))
    if (text !== undefined) files[name] = text
  }
  const path = replicaKeyPath(directory)
  const found = await readFileIfPresent(path)
  const key = found === undefined ? randomBytes(keyBytes) : parseKey(found, path)
  // The key is written before the record: a record whose key is lost would lock everybody out.
  if (found === undefined)
    await writeFileDurably(path, `${key.toString('base64url')}\n`, secretMode)
  const { isApplied } = await store.write({
    key: sharedKeysRecord,
    value: seal(JSON.stringify(files), key, purpose),
    expectRevision: 0,
  })
  if (!isApplied) throw new Error('Cannot share keys: another replica did at the same time')
}

function missingKey(path: string): ExpectedError {
  return new ExpectedError(
    `Cannot start: others run on this etcd, and ${path} is missing; copy that file from one of them and name the copy with --replica-key-file`,
    exitCodes.dataDirectory,
  )
}

function parseKey(text: string, path: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64url')
  if (key.length === keyBytes) return key
  throw new ExpectedError(
    `Cannot start: ${path} is damaged; copy it from another server of this cluster`,
    exitCodes.dataDirectory,
  )
}

function opened(record: Uint8Array, key: Buffer, path: string): Record<string, string> {
  try {
    // A record that opens was sealed by shareKeys, so it holds texts by file name.
    return JSON.parse(unseal(record, key, purpose))
  } catch (error) {
    throw new ExpectedError(
      `Cannot start: ${path} does not open the keys in etcd; copy it from another server of this cluster, or use another --etcd-prefix`,
      exitCodes.dataDirectory,
      { cause: error },
    )
  }
}

/** A data directory that was another control plane's would lose its authority. */
async function refuseOthers(files: Readonly<Record<string, string>>, directory: string) {
  const own = await readFileIfPresent(join(directory, 'pki', 'ca.crt'))
  if (own === undefined || isSameAuthority(own, files['ca.crt'] ?? '')) return
  throw new ExpectedError(
    `Cannot start: ${directory} belongs to another cluster than the one in etcd; use an empty --data-dir, or another --etcd-prefix`,
    exitCodes.dataDirectory,
  )
}

/** An authority keeps its key and its name when it gets other dates; the shared record keeps the first dates. */
function isSameAuthority(own: string, shared: string): boolean {
  if (own === shared) return true
  try {
    const { commonName, organizations } = readCertificate(own)
    const other = readCertificate(shared)
    return (
      spkiHash(own) === spkiHash(shared) &&
      commonName === other.commonName &&
      organizations.join() === other.organizations.join()
    )
  } catch {
    // A certificate that cannot be read proves nothing.
    return false
  }
}
