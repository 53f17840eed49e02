import { readFile } from 'node:fs/promises'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import {
  blobsOf,
  checkWholePackage,
  openPackage,
  openUnverified,
  placesIn,
  type PackageManifest,
} from '@skerry/offline-package'

/** A package as it is shown. */
export interface ShownPackage {
  readonly digest: string
  readonly files: number
  readonly bytes: number
  readonly manifest: PackageManifest
}

/** Reads what a package says that it is. Nothing is checked. Rejects with an ExpectedError. */
export async function readPackage(directory: string): Promise<ShownPackage> {
  return shown(await openUnverified(placesIn(directory)))
}

/** Checks the signature and every file of a package. Rejects with an ExpectedError that names what is wrong. */
export async function verifyPackage(
  directory: string,
  publicKeyFile: string,
  signal: AbortSignal,
): Promise<ShownPackage> {
  const publicKey = await readFile(publicKeyFile, 'utf8').catch((cause: unknown) => {
    const text = `Cannot read public key ${publicKeyFile}: ${messageOf(cause)}`
    throw new ExpectedError(text, exitCodes.usage, { cause })
  })
  const opened = await openPackage(placesIn(directory), publicKey)
  await checkWholePackage(opened, directory, signal)
  return shown(opened)
}

function shown(opened: {
  readonly digest: string
  readonly manifest: PackageManifest
}): ShownPackage {
  const blobs = blobsOf(opened.manifest)
  return {
    digest: opened.digest,
    files: blobs.length,
    bytes: blobs.reduce((sum, { bytes }) => sum + bytes, 0),
    manifest: opened.manifest,
  }
}
