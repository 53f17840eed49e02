import { ExpectedError, exitCodes } from '@skerry/base'

/** An offline package that a line names: by its digest, and by the key of the operator who must have signed it. */
export interface LinePackage {
  /** sha256:<hex>, the digest of its manifest. */
  readonly digest: string
  /** An Ed25519 public key in PEM. */
  readonly publicKey: string
}

/** An Ed25519 key as RFC 8410 writes it, in base64: the first 16 characters are its algorithm. */
const keyPattern = /^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=$/

export const packageDigestPattern = /^sha256:[0-9a-f]{64}$/

/** Returns the key of a line, which is the text between the lines of its PEM, as PEM; undefined if it is none. */
export function pemOfKey(text: string): string | undefined {
  if (!keyPattern.test(text)) return undefined
  return `-----BEGIN PUBLIC KEY-----\n${text}\n-----END PUBLIC KEY-----\n`
}

/** Returns the words by which a machine knows the package, if there is one. Throws an ExpectedError if the key is not a public one. */
export function packageWords(offline: LinePackage | undefined): string[] {
  if (offline === undefined) return []
  const { digest, publicKey } = offline
  const [, key = ''] =
    /^-----BEGIN PUBLIC KEY-----\n([^\n]*)\n-----END PUBLIC KEY-----\n?$/.exec(publicKey) ?? []
  if (keyPattern.test(key)) return ['--package', digest, '--package-key', key]
  // A private key must not come back in an error.
  const text =
    'Cannot print a line: the key of the package is not an Ed25519 public key in PEM; "skerry package key" makes one'
  throw new ExpectedError(text, exitCodes.usage)
}
