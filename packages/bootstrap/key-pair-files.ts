import { X509Certificate, createPublicKey } from 'node:crypto'
import { rename } from 'node:fs/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import { publicKeyOf } from '@skerry/pki'
import type { CertificateAndKey } from './issue-certificate.ts'
import { publicMode, readFileIfPresent, secretMode, writeFileDurably } from './secure-file.ts'

/** The paths of one certificate and its key. */
export interface KeyPairPaths {
  readonly certificatePath: string
  readonly keyPath: string
  /** If true, others trust this very key, so no message advises removing it. */
  readonly isIrreplaceable?: true
}

/**
 * Replaces the pair so that a power cut at any moment leaves a readable one, the old or the new.
 * The new key is stored next to the old one until its certificate exists: renaming the certificate
 * is the moment of change.
 */
export async function writeCertificateAndKey(
  paths: KeyPairPaths,
  { certificatePem, privateKeyPem }: CertificateAndKey,
): Promise<void> {
  await writeFileDurably(waitingKeyOf(paths), privateKeyPem, secretMode)
  await writeFileDurably(paths.certificatePath, certificatePem, publicMode)
  await moveWaitingKey(paths)
}

/** The content of the two files: a pair, damage, or neither. */
export interface InspectedPair {
  readonly pair?: CertificateAndKey
  /** Explains why the files are unusable, and what a person can do. */
  readonly damage?: ExpectedError
}

/**
 * For the process that also writes the pair: finishes what a power cut interrupted. Returns
 * undefined if there is no certificate: neither file was created, or a power cut left a key without
 * one. Throws ExpectedError for damaged files.
 */
export async function readCertificateAndKey(
  paths: KeyPairPaths,
): Promise<CertificateAndKey | undefined> {
  return pairOf(await inspectCertificateAndKey(paths))
}

/**
 * Does the same for a caller that can get another pair. Throws ExpectedError for a directory in
 * place of a file, because no file could be written there.
 */
export async function inspectCertificateAndKey(paths: KeyPairPaths): Promise<InspectedPair> {
  const { isKeyWaiting, ...inspected } = await readWholePair(paths)
  if (isKeyWaiting) await moveWaitingKey(paths)
  return inspected
}

/** For other processes: reads the same and changes nothing. */
export async function peekCertificateAndKey(
  paths: KeyPairPaths,
): Promise<CertificateAndKey | undefined> {
  return pairOf(await readWholePair(paths))
}

function pairOf({ pair, damage }: InspectedPair): CertificateAndKey | undefined {
  if (damage) throw damage
  return pair
}

/** Reads again, as long as the pair changes, if another process replaces it meanwhile. */
async function readWholePair(
  paths: KeyPairPaths,
): Promise<InspectedPair & { readonly isKeyWaiting?: true }> {
  for (let before: FoundPair | undefined; ;) {
    const found = await readPair(paths)
    if (found === undefined) return {}
    const { certificatePem, privateKeyPem, waitingKeyPem } = found
    if (isPair(certificatePem, privateKeyPem)) {
      return { pair: { certificatePem, privateKeyPem } }
    }
    if (isPair(certificatePem, waitingKeyPem)) {
      return { pair: { certificatePem, privateKeyPem: waitingKeyPem }, isKeyWaiting: true }
    }
    if (isSamePair(found, before)) return { damage: faultOf(paths, found) }
    before = found
  }
}

interface FoundPair {
  readonly certificatePem: string
  readonly privateKeyPem: string | undefined
  readonly waitingKeyPem: string | undefined
}

async function readPair(paths: KeyPairPaths): Promise<FoundPair | undefined> {
  const certificatePem = await readFileIfPresent(paths.certificatePath)
  const privateKeyPem = await readFileIfPresent(paths.keyPath)
  if (certificatePem === undefined) return undefined
  const waitingKeyPem = await readFileIfPresent(waitingKeyOf(paths))
  return { certificatePem, privateKeyPem, waitingKeyPem }
}

function isSamePair(found: FoundPair, before: FoundPair | undefined): boolean {
  return (
    found.certificatePem === before?.certificatePem && found.privateKeyPem === before.privateKeyPem
  )
}

/** Returns where a key is stored until its certificate is written. */
function waitingKeyOf({ keyPath }: KeyPairPaths): string {
  return `${keyPath}.next`
}

async function moveWaitingKey(paths: KeyPairPaths): Promise<void> {
  try {
    await rename(waitingKeyOf(paths), paths.keyPath)
  } catch (error) {
    // The key was moved already.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
}

function isPair(
  certificatePem: string,
  privateKeyPem: string | undefined,
): privateKeyPem is string {
  if (privateKeyPem === undefined) return false
  try {
    const ofCertificate = new X509Certificate(certificatePem).publicKey
    return ofCertificate.equals(createPublicKey(publicKeyOf(privateKeyPem)))
  } catch {
    // faultOf reports which of the two cannot be read.
    return false
  }
}

function faultOf(paths: KeyPairPaths, { certificatePem, privateKeyPem }: FoundPair): ExpectedError {
  if (privateKeyPem === undefined) return unusable(paths, `${paths.keyPath} is missing`)
  try {
    void new X509Certificate(certificatePem)
    publicKeyOf(privateKeyPem)
  } catch (cause) {
    return unusable(paths, `it or ${paths.keyPath} cannot be read`, cause)
  }
  return unusable(paths, `${paths.keyPath} is not its key`)
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
