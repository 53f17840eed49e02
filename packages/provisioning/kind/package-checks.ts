import { fieldInvalid, type StatusCause } from '@skerry/api'
import type { EdgeClusterSpec } from './edge-cluster.ts'

/** An Ed25519 key as RFC 8410 writes it: the first 16 characters are its algorithm. */
const publicKeyPattern =
  /^-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=\n-----END PUBLIC KEY-----\n?$/

/** Returns everything that is wrong with the offline package of a cluster, or of the field that has one. */
export function packageCauses(
  { package: asked }: Pick<Partial<EdgeClusterSpec>, 'package'>,
  field = 'spec.package',
): StatusCause[] {
  if (asked === undefined) return []
  const causes: StatusCause[] = []
  if (!/^sha256:[0-9a-f]{64}$/.test(asked.digest)) {
    const why = 'must be sha256: and 64 hexadecimal digits, as "skerry package show" prints it'
    causes.push(fieldInvalid(`${field}.digest`, asked.digest, why))
  }
  if (!publicKeyPattern.test(asked.publicKey)) {
    // A private key must not come back in an error.
    const why = 'must be an Ed25519 public key in PEM, as "skerry package key" makes it'
    causes.push(fieldInvalid(`${field}.publicKey`, 'this text', why))
  }
  return causes
}
