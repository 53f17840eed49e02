import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, RecentMap, type Clock } from '@skerry/base'
import type { BlobRef, PackageManifest, PackagePlaces } from '@skerry/offline-package'
import { codeOf } from '../runtime/data-directory.ts'
import { exists } from '../runtime/files.ts'
import { programBounds } from './limits-table.ts'

const { listedMax, knownMax, listMsMin } = programBounds.packageShelf

/** A package whose digest is right. Nobody has checked who signed it: that is for its user. */
export interface ShelvedPackage {
  readonly digest: string
  readonly places: PackagePlaces
  readonly manifest: PackageManifest
  /** The files that the manifest names, by their SHA-256. */
  readonly files: ReadonlyMap<string, BlobRef>
}

/**
 * Returns the places of all packages by their digests, in directories that are packages, have some, or are where a machine
 * keeps its own. One without a package, or with a damaged one, hides no other.
 */
export async function listPackages(
  directories: readonly string[],
): Promise<ReadonlyMap<string, PackagePlaces>> {
  const listed = new Map<string, PackagePlaces>()
  for (const directory of directories) {
    for (const places of await placesBelow(directory)) {
      const digest = (await openAt(places))?.digest
      if (digest !== undefined && !listed.has(digest)) listed.set(digest, places)
    }
  }
  return listed
}

/** The packages that a role has. They are looked for when they are asked for, so that one may come while it runs. */
export class PackageShelf {
  readonly #directories: readonly string[]
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #known = new RecentMap<string, ShelvedPackage>(knownMax)
  #listing: Promise<ReadonlyMap<string, PackagePlaces>> = Promise.resolve(new Map())
  #listedMs = Number.NEGATIVE_INFINITY

  constructor(directories: readonly string[], clock: Pick<Clock, 'monotonicMs'>) {
    this.#directories = directories
    this.#clock = clock
  }

  /** Resolves with the package, or with undefined if there is none with this digest. */
  async find(digest: string): Promise<ShelvedPackage | undefined> {
    const known = this.#known.use(digest)
    if (known !== undefined) return known
    const places = (await this.#listing).get(digest) ?? (await this.#list()).get(digest)
    const opened = places && (await openAt(places))
    // Somebody may have replaced it since it was listed.
    if (opened?.digest !== digest) return undefined
    const { blobsOf } = await import('@skerry/offline-package')
    const files = new Map(blobsOf(opened.manifest).map((blob) => [blob.sha256, blob]))
    const found = { ...opened, files }
    this.#known.set(digest, found)
    return found
  }

  /** Anybody may ask for packages that do not exist, which must not keep the disk busy. */
  #list(): Promise<ReadonlyMap<string, PackagePlaces>> {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#listedMs < listMsMin) return this.#listing
    this.#listedMs = nowMs
    this.#listing = listPackages(this.#directories)
    return this.#listing
  }
}

async function openAt(places: PackagePlaces): Promise<Omit<ShelvedPackage, 'files'> | undefined> {
  const { openUnverified } = await import('@skerry/offline-package')
  try {
    return await openUnverified(places)
  } catch (error) {
    if (error instanceof ExpectedError) return undefined
    throw error
  }
}

async function placesBelow(directory: string): Promise<PackagePlaces[]> {
  const { placesIn } = await import('@skerry/offline-package')
  const own = placesIn(directory)
  const found = [own]
  for (const each of await directoriesIn(directory)) {
    const places = placesIn(each)
    // On a machine all packages share their files.
    found.push((await exists(join(each, 'blobs'))) ? places : { ...places, blobs: own.blobs })
  }
  return found
}

async function directoriesIn(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    return entries
      .filter((entry) => entry.isDirectory() && entry.name !== 'blobs')
      .slice(0, listedMax)
      .map(({ name }) => join(directory, name))
  } catch (error) {
    // A machine has none before its first package.
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}
