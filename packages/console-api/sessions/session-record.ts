import { createHash, randomBytes } from 'node:crypto'
import { isJsonObject, type AnyObject } from '@skerry/api'
import { deriveKey, isMacOf, macOf, seal, unseal } from './sealed-text.ts'

/** A reader of Secrets there learns no credential, and a writer can forge none; removing one ends a session. */
export const sessionsNamespace = 'skerry-sessions'

/** A session belongs to a cookie. A code is used once, to begin one. */
export type RecordKind = 'session' | 'code'

/** The credential behind a session. It is checked again with each request, so a session is never better than it. */
export interface SessionSource {
  /** The client certificate, as base64 of DER. */
  readonly certificate?: string
  readonly token?: string
  /** Set if the token is an issuer's ID token that can be renewed. */
  readonly login?: { readonly refreshToken: string; readonly subject: string }
}

export interface SessionRecord {
  readonly kind: RecordKind
  /** Half of the hash of the secret. It names the record, and the session in the audit log. */
  readonly id: string
  readonly user: { readonly name: string; readonly uid: string }
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly usedAtMs: number
  /** The address from which it was opened, for people. Omitted for codes, and by hubs of former versions. */
  readonly address?: string
  /** The kind of credential behind it, for people. */
  readonly by?: 'token' | 'certificate' | 'issuer'
  /** The source, encrypted with a key that only the cookie or code gives. */
  readonly sealed: string
}

/** A secret for one cookie or code: 256 random bits. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function isSecret(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}

export function idOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 32)
}

export function recordName(kind: RecordKind, id: string): string {
  return `${kind}-${id}`
}

export function sealSource(source: SessionSource, kind: RecordKind, secret: string): string {
  return seal(JSON.stringify(source), deriveKey(secret, kind), idOf(secret))
}

/** Returns undefined if the record does not belong to this secret. */
export function unsealSource(
  { sealed, kind, id }: Pick<SessionRecord, 'sealed' | 'kind' | 'id'>,
  secret: string,
): SessionSource | undefined {
  const text = id === idOf(secret) ? unseal(sealed, deriveKey(secret, kind), id) : undefined
  // Its authenticity is proven: `sealSource` made it.
  return text === undefined ? undefined : (JSON.parse(text) as SessionSource)
}

const secretTypePrefix = 'hub.skerry.io/'

/** The object that keeps a record, signed with a key of the hub's. */
export function secretOf(record: SessionRecord, hubKey: Uint8Array): AnyObject {
  const { kind, id } = record
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: sessionsNamespace, name: recordName(kind, id) },
    type: `${secretTypePrefix}${kind}`,
    data: dataOf(record, hubKey),
  }
}

export function dataOf(record: SessionRecord, hubKey: Uint8Array): Record<string, string> {
  const text = JSON.stringify(record)
  return { record: base64(text), mac: base64(macOf(text, hubKey)) }
}

/** Returns undefined if it is not a record, or another hub's. */
export function readRecord(secret: AnyObject, hubKey: Uint8Array): SessionRecord | undefined {
  const data: unknown = secret['data']
  if (!isJsonObject(data)) return undefined
  const { record, mac } = data
  if (typeof record !== 'string' || typeof mac !== 'string') return undefined
  const text = textOf(record)
  if (!isMacOf(textOf(mac), text, hubKey)) return undefined
  // Its authenticity is proven: `dataOf` wrote it.
  const read = JSON.parse(text) as SessionRecord
  return secret.metadata.name === recordName(read.kind, read.id) ? read : undefined
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}

function textOf(encoded: string): string {
  return Buffer.from(encoded, 'base64').toString('utf8')
}
