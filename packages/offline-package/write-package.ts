import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import { packageBounds as bounds } from './limits-table.ts'
import {
  manifestBytes,
  packageDigest,
  parseManifest,
  type BlobRef,
  type PackageManifest,
} from './manifest.ts'
import { placesIn } from './open-package.ts'
import { signBytes } from './operator-key.ts'

/**
 * Writes a package next to its place and moves it there when it is whole. Disposing of it removes the parts of one that
 * was not finished.
 */
export class PackageWriter implements AsyncDisposable {
  readonly #target: string
  readonly #part: string

  private constructor(target: string, part: string) {
    this.#target = target
    this.#part = part
  }

  /** Rejects with an ExpectedError if there is something at the place. */
  static async create(target: string): Promise<PackageWriter> {
    const there = await readdir(target).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
      throw error
    })
    if (there.length > 0) {
      const text = `Cannot write package ${target}: the directory is not empty; choose another --output`
      throw new ExpectedError(text, exitCodes.usage)
    }
    const part = `${target}.part-${randomBytes(4).toString('hex')}`
    await mkdir(placesIn(part).blobs, { recursive: true })
    return new PackageWriter(target, part)
  }

  addFile(path: string, signal: AbortSignal): Promise<BlobRef> {
    return this.addStream(createReadStream(path), signal)
  }

  async addBytes(bytes: Uint8Array): Promise<BlobRef> {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    await writeFile(join(placesIn(this.#part).blobs, sha256), bytes)
    return { sha256, bytes: bytes.length }
  }

  /** Adds what a stream has. Rejects with an ExpectedError if that is more than a file of a package may have. */
  async addStream(stream: Readable, signal: AbortSignal): Promise<BlobRef> {
    const hash = createHash('sha256')
    let bytes = 0
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length
        hash.update(chunk)
        if (bytes <= bounds.blobBytesMax) return done(null, chunk)
        const text = `Cannot write package: a file has more than ${bounds.blobBytesMax} bytes`
        done(new ExpectedError(text, exitCodes.failure))
      },
    })
    const path = join(this.#part, randomBytes(8).toString('hex'))
    await pipeline(stream, counted, createWriteStream(path), { signal })
    const sha256 = hash.digest('hex')
    await rename(path, join(placesIn(this.#part).blobs, sha256))
    return { sha256, bytes }
  }

  /** Checks and signs the manifest, and moves the package to its place. Resolves with its digest. */
  async finish(manifest: PackageManifest, privateKey: string): Promise<string> {
    const bytes = manifestBytes(manifest)
    parseManifest(bytes)
    const places = placesIn(this.#part)
    await writeFile(places.manifest, bytes)
    await writeFile(places.signature, signBytes(bytes, privateKey))
    await rename(this.#part, this.#target)
    return packageDigest(bytes)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#part, { recursive: true, force: true })
  }
}
