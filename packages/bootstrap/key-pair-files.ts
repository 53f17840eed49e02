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

/** Undefined when neither file is there, or a power cut left a key without its certificate. */
export async function readCertificateAndKey(
  paths: KeyPairPaths,
): Promise<CertificateAndKey | undefined> {
  const certificatePem = await readFileIfPresent(paths.certificatePath)
  const privateKeyPem = await readFileIfPresent(paths.keyPath)
  if (certificatePem === undefined) return undefined
  if (privateKeyPem === undefined) throw unusable(paths, `${paths.keyPath} is missing`)
  return { certificatePem, privateKeyPem: checked(paths, certificatePem, privateKeyPem) }
}

function checked(paths: KeyPairPaths, certificatePem: string, privateKeyPem: string): string {
  let isPair: boolean
  try {
    const ofCertificate = new X509Certificate(certificatePem).publicKey
    isPair = ofCertificate.equals(createPublicKey(publicKeyOf(privateKeyPem)))
  } catch (cause) {
    throw unusable(paths, `it or ${paths.keyPath} cannot be read`, cause)
  }
  if (isPair) return privateKeyPem
  throw unusable(paths, `${paths.keyPath} is not its key`)
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
