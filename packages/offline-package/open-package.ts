import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { checkFile, readBounded } from './bounded-file.ts'
import { packageBounds as bounds } from './limits-table.ts'
import {
  blobsOf,
  packageDigest,
  parseManifest,
  type BlobRef,
  type PackageManifest,
} from './manifest.ts'
import { isSignedBy } from './operator-key.ts'

/** Where the parts of a package are: together in a directory, or on a machine, whose packages share their blobs. */
export interface PackagePlaces {
  readonly manifest: string
  readonly signature: string
  readonly blobs: string
}

/** The bytes that are signed, and the text of the signature. */
interface SignedManifest {
  readonly manifest: Uint8Array
  readonly signature: Uint8Array
}

interface SignedPackage {
  /** sha256:<hex>, the name of the package. */
  readonly digest: string
  readonly signed: SignedManifest
  readonly manifest: PackageManifest
}

export interface OpenedPackage extends SignedPackage {
  readonly places: PackagePlaces
}

export function placesIn(directory: string): PackagePlaces {
  return {
    manifest: join(directory, 'manifest.json'),
    signature: join(directory, 'manifest.sig'),
    blobs: join(directory, 'blobs', 'sha256'),
  }
}

/** Returns the path of a file. It follows from the digest alone, which the manifest's parser has checked. */
export function blobPath({ blobs }: PackagePlaces, { sha256 }: BlobRef): string {
  return join(blobs, sha256)
}

/**
 * Opens a package whose manifest the key's owner has signed; nothing of the manifest is parsed before. Its files are not
 * checked yet. Rejects with an ExpectedError.
 */
export async function openPackage(
  places: PackagePlaces,
  publicKey: string,
): Promise<OpenedPackage> {
  return { places, ...openSigned(await readSigned(places), publicKey, places.manifest) }
}

/** Reads a manifest and its signature without a look at either, up to their bounds. Rejects with an ExpectedError. */
export async function readSigned(
  places: Pick<PackagePlaces, 'manifest' | 'signature'>,
): Promise<SignedManifest> {
  return {
    manifest: await readBounded(places.manifest, bounds.manifestBytesMax),
    signature: await readBounded(places.signature, bounds.signatureBytesMax),
  }
}

/**
 * Opens a manifest, of at most the bytes that the bounds name, that the key's owner has signed; nothing of it is parsed
 * before. Throws an ExpectedError with the name by which people know it.
 */
export function openSigned(signed: SignedManifest, publicKey: string, name: string): SignedPackage {
  const { manifest: bytes, signature } = signed
  if (!isSignedBy(bytes, Buffer.from(signature).toString('latin1'), publicKey)) {
    const text = `Cannot use package ${name}: this key has not signed it; get the package again, or the right key from its maker`
    throw new ExpectedError(text, exitCodes.failure)
  }
  return { digest: packageDigest(bytes), signed, manifest: parseManifest(bytes) }
}

/** Opens a package to show it. Nothing of it may be used: nobody has checked who made it. */
export async function openUnverified(
  places: PackagePlaces,
): Promise<Omit<OpenedPackage, 'signed'>> {
  const bytes = await readBounded(places.manifest, bounds.manifestBytesMax)
  return { places, digest: packageDigest(bytes), manifest: parseManifest(bytes) }
}

/** Reads these files and compares each with its length and digest. Rejects with an ExpectedError at the first wrong one. */
export async function checkBlobs(
  { places }: Pick<OpenedPackage, 'places'>,
  blobs: readonly BlobRef[],
  signal: AbortSignal,
): Promise<void> {
  for (const each of blobs) await checkFile(blobPath(places, each), each, signal)
}

/** Checks every file of a package in a directory, and that the directory has no other. Rejects with an ExpectedError. */
export async function checkWholePackage(
  opened: OpenedPackage,
  directory: string,
  signal: AbortSignal,
): Promise<void> {
  const blobs = blobsOf(opened.manifest)
  const own = ['blobs', 'manifest.json', 'manifest.sig']
  refuseOthers(directory, await readdir(directory), own)
  refuseOthers(join(directory, 'blobs'), await readdir(join(directory, 'blobs')), ['sha256'])
  const names = blobs.map(({ sha256 }) => sha256)
  refuseOthers(opened.places.blobs, await readdir(opened.places.blobs), names)
  await checkBlobs(opened, blobs, signal)
}

function refuseOthers(directory: string, found: readonly string[], own: readonly string[]): void {
  const known = new Set(own)
  const other = found.find((name) => !known.has(name))
  if (other === undefined) return
  const text = `Cannot use package: ${JSON.stringify(join(directory, other))} does not belong to it; remove that`
  throw new ExpectedError(text, exitCodes.failure)
}
