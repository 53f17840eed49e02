import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto'
import { ExpectedError, exitCodes } from '@skerry/base'

/** The two halves of an operator's key in PEM. */
export interface OperatorKey {
  readonly privateKey: string
  readonly publicKey: string
}

export function createOperatorKey(): OperatorKey {
  return generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
}

/** Signs the bytes with an Ed25519 key. Throws an ExpectedError if it is not such a key. */
export function signBytes(bytes: Uint8Array, privateKeyPem: string): string {
  const key = ed25519(() => createPrivateKey(privateKeyPem), 'private')
  return `${sign(null, bytes, key).toString('base64')}\n`
}

/** Returns true if the key's other half signed the bytes. Throws an ExpectedError if it is not an Ed25519 key. */
export function isSignedBy(bytes: Uint8Array, signature: string, publicKeyPem: string): boolean {
  const key = ed25519(() => createPublicKey(checkedPublic(publicKeyPem)), 'public')
  if (!/^[A-Za-z0-9+/]{86}==\n?$/.test(signature)) return false
  return verify(null, bytes, key, Buffer.from(signature, 'base64'))
}

/** Node takes a private key for a public one; somebody would spread it by mistake. */
function checkedPublic(pem: string): string {
  if (pem.trimStart().startsWith('-----BEGIN PUBLIC KEY-----\n')) return pem
  throw wrongKey('public')
}

function ed25519(read: () => KeyObject, half: 'private' | 'public'): KeyObject {
  let key: KeyObject
  try {
    key = read()
  } catch (error) {
    throw wrongKey(half, error)
  }
  if (key.asymmetricKeyType !== 'ed25519') throw wrongKey(half)
  return key
}

function wrongKey(half: 'private' | 'public', cause?: unknown): ExpectedError {
  const text = `Cannot use key: it is not an Ed25519 ${half} key in PEM without a passphrase; "skerry package key" makes one`
  // The cause of a private key might quote it.
  return new ExpectedError(text, exitCodes.usage, half === 'public' ? { cause } : {})
}
