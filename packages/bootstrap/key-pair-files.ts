import { X509Certificate, createPublicKey } from 'node:crypto'
import { ExpectedError, exitCodes } from '@skerry/base'
import { publicKeyOf } from '@skerry/pki'
import type { CertificateAndKey } from './issue-certificate.ts'
import { publicMode, readFileIfPresent, secretMode, writeFileDurably } from './secure-file.ts'

/** Where one certificate and its key lie. */
export interface KeyPairPaths {
  readonly certificatePath: string
  readonly keyPath: string
  /** Others trust this very key, so nobody is told to remove it. */
  readonly isIrreplaceable?: true
}

/** The key first: a certificate on disk always has its key beside it. */
export async function writeCertificateAndKey(
  paths: KeyPairPaths,
  { certificatePem, privateKeyPem }: CertificateAndKey,
): Promise<void> {
  await writeFileDurably(paths.keyPath, privateKeyPem, secretMode)
  await writeFileDurably(paths.certificatePath, certificatePem, publicMode)
}

/** Content of the two files: a pair, damage, or neither. */
export interface InspectedPair {
  readonly pair?: CertificateAndKey
  /** Says why the files are of no use, and what a person can do. */
  readonly damage?: ExpectedError
}

/**
 * Returns the pair. Undefined when neither file is there, or a power cut left a key without its certificate.
 * Throws ExpectedError for files that are damaged.
 */
export async function readCertificateAndKey(
  paths: KeyPairPaths,
): Promise<CertificateAndKey | undefined> {
  const { pair, damage } = await inspectCertificateAndKey(paths)
  if (damage) throw damage
  return pair
}

/**
 * Reads the files for a caller who can get another pair. Throws ExpectedError for a directory in the place of a
 * file: no other file could be written there.
 */
export async function inspectCertificateAndKey(paths: KeyPairPaths): Promise<InspectedPair> {
  const certificatePem = await readFileIfPresent(paths.certificatePath)
  const privateKeyPem = await readFileIfPresent(paths.keyPath)
  if (certificatePem === undefined) return {}
  if (privateKeyPem === undefined) return { damage: unusable(paths, `${paths.keyPath} is missing`) }
  const damage = damageOf(paths, certificatePem, privateKeyPem)
  return damage ? { damage } : { pair: { certificatePem, privateKeyPem } }
}

function damageOf(
  paths: KeyPairPaths,
  certificatePem: string,
  privateKeyPem: string,
): ExpectedError | undefined {
  try {
    const ofCertificate = new X509Certificate(certificatePem).publicKey
    const isPair = ofCertificate.equals(createPublicKey(publicKeyOf(privateKeyPem)))
    return isPair ? undefined : unusable(paths, `${paths.keyPath} is not its key`)
  } catch (cause) {
    return unusable(paths, `it or ${paths.keyPath} cannot be read`, cause)
  }
}

function unusable(
  { certificatePath, isIrreplaceable }: KeyPairPaths,
  why: string,
  cause?: unknown,
): ExpectedError {
  const otherwise = isIrreplaceable ? '' : ' or remove both'
  return new ExpectedError(
    `Cannot use certificate ${certificatePath}: ${why}; restore both from a backup${otherwise}`,
    exitCodes.dataDirectory,
    { cause },
  )
}
