import { hkdfSync, randomBytes } from 'node:crypto'
import { isJsonObject } from '@skerry/api'
import { keyBytes, seal, unseal } from '../../control-plane/sealed-record.ts'
import type { OtherMember } from './member-record.ts'
import type { CommonSettings } from '../masters/master-directory.ts'

/** Everything that a further master or a witness needs: the rest is in etcd, sealed with the replica key. */
export interface MasterKeys {
  /** Missing for a witness, which votes and opens nothing that is sealed. */
  readonly replicaKey?: string | undefined
  readonly etcdAuthority: { readonly certificatePem: string; readonly privateKeyPem: string }
  readonly members: readonly OtherMember[]
  /** The path of all keys in etcd. */
  readonly prefix: string
  readonly settings: CommonSettings
}

/** The group of tokens with which masters join. */
export const mastersGroup = 'system:bootstrappers:skerry:masters'

/** The Secret with the sealed keys belongs to the token with this id. */
export function keysSecretName(tokenId: string): string {
  return `skerry-master-keys-${tokenId}`
}

export const keysField = 'sealed'

/** A token of nodes has two parts; that of a master has a third, which no server ever sees. */
export interface MasterToken {
  /** The bootstrap token, `id.secret`. */
  readonly bootstrap: string
  readonly key: Buffer
}

export function newMasterKey(): Buffer {
  return randomBytes(keyBytes)
}

export function masterTokenText({ bootstrap, key }: MasterToken): string {
  return `${bootstrap}.${key.toString('base64url')}`
}

/** Returns undefined for a text that is not the token of a master. */
export function parseMasterToken(text: string): MasterToken | undefined {
  const [, bootstrap, encoded = ''] =
    /^([a-z0-9]{6}\.[a-z0-9]{16})\.([\w-]{43})$/.exec(text.trim()) ?? []
  const key = Buffer.from(encoded, 'base64url')
  return bootstrap !== undefined && key.length === keyBytes ? { bootstrap, key } : undefined
}

export function sealKeys(keys: MasterKeys, { bootstrap, key }: MasterToken): Buffer {
  return seal(JSON.stringify(keys), sealingKey(key), purposeOf(bootstrap))
}

/** Returns undefined if the key is another one, or the bytes were changed. */
export function openKeys(
  bytes: Uint8Array,
  { bootstrap, key }: MasterToken,
): MasterKeys | undefined {
  try {
    return readKeys(JSON.parse(unseal(bytes, sealingKey(key), purposeOf(bootstrap))))
  } catch {
    // The caller says what a person can do.
    return undefined
  }
}

function readKeys(value: unknown): MasterKeys | undefined {
  if (!isJsonObject(value)) return undefined
  const { replicaKey, etcdAuthority, members, prefix, settings } = value
  const isWhole =
    (replicaKey === undefined || typeof replicaKey === 'string') &&
    typeof prefix === 'string' &&
    isJsonObject(etcdAuthority) &&
    isJsonObject(settings) &&
    Array.isArray(members)
  // Only sealKeys writes bytes that open, so the rest of the shape is its own.
  return isWhole ? (value as unknown as MasterKeys) : undefined
}

function sealingKey(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'skerry keys of a master 1', keyBytes))
}

/** Binds the bytes to their token, so that those of another one do not open. */
function purposeOf(bootstrap: string): string {
  return `skerry keys of a master 1 ${bootstrap.split('.')[0]}`
}
