import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import * as z from 'zod'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { packageBounds as bounds } from './limits-table.ts'
import { blobPath, type PackagePlaces } from './open-package.ts'
import { distinct, type Architecture, type BlobRef, type PackagedImage } from './manifest.ts'
import type { PackageWriter } from './write-package.ts'

/** The documents of an image archive that are read; others of it stay as they are. */
interface ArchiveDocuments {
  /** The index.json of an OCI layout. */
  index?: Buffer
  /** The manifest.json of a Docker archive. */
  docker?: Buffer
}

/**
 * Adds an archive of images, plain or compressed by gzip. An OCI layout is taken apart, so that packages and archives
 * share layers. Rejects with an ExpectedError if the archive names no image.
 */
export async function addImageArchive(
  writer: PackageWriter,
  path: string,
  signal: AbortSignal,
): Promise<PackagedImage> {
  try {
    const documents: ArchiveDocuments = {}
    const blobs: BlobRef[] = []
    await readEntries(path, signal, async (name, content) => {
      const hex = /^(?:\.\/)?blobs\/sha256\/([0-9a-f]{64})$/.exec(name)?.[1]
      if (hex !== undefined) {
        const added = await writer.addStream(content, signal)
        if (added.sha256 !== hex) throw new RangeError(`${name} is damaged`)
        blobs.push(added)
      } else if (/^(?:\.\/)?index\.json$/.test(name)) documents.index = await wholeOf(content)
      else if (/^(?:\.\/)?manifest\.json$/.test(name)) documents.docker = await wholeOf(content)
      else content.resume()
    })
    if (documents.index !== undefined) return await layout(writer, documents.index, blobs)
    if (documents.docker === undefined) throw new RangeError('it has no index.json, manifest.json')
    return {
      references: dockerReferences(documents.docker),
      architectures: [],
      form: 'docker',
      content: await writer.addFile(path, signal),
      blobs: [],
    }
  } catch (error) {
    signal.throwIfAborted()
    const text = `Cannot add image archive ${path}: ${messageOf(error)}; give an OCI layout or an archive of "docker save"`
    throw new ExpectedError(text, exitCodes.failure, { cause: error })
  }
}

/** Calls `each` for every regular file of the archive; it must read the content to its end. */
async function readEntries(
  path: string,
  signal: AbortSignal,
  each: (name: string, content: Readable) => Promise<void>,
): Promise<void> {
  const { default: tar } = await import('tar-stream')
  const extract = tar.extract()
  const file = createReadStream(path)
  const flow = (await isGzip(path))
    ? pipeline(file, createGunzip(), extract, { signal })
    : pipeline(file, extract, { signal })
  // The reader below ends at the first error of the stream, too.
  flow.catch(() => undefined)
  for await (const entry of extract) {
    const { name, type } = entry.header
    if (type === 'file') await each(name, entry as unknown as Readable)
    entry.resume()
  }
  await flow
}

async function isGzip(path: string): Promise<boolean> {
  await using file = await open(path)
  const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0)
  return buffer.readUInt16BE() === 0x1f8b
}

async function wholeOf(content: Readable): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of content as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > bounds.indexBytesMax) throw new RangeError('its index is too long')
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** The parts of an index that are looked at (OCI image specification 1.1, image-index.md). */
const indexSchema = z.object({
  manifests: z.array(
    z.object({
      annotations: z.record(z.string(), z.string()).optional(),
      platform: z.object({ architecture: z.string() }).optional(),
    }),
  ),
})

async function layout(
  writer: PackageWriter,
  index: Buffer,
  blobs: readonly BlobRef[],
): Promise<PackagedImage> {
  const { manifests } = indexSchema.parse(JSON.parse(index.toString('utf8')))
  const references = manifests.flatMap(
    ({ annotations }) => annotations?.['io.containerd.image.name'] ?? [],
  )
  if (references.length === 0) {
    throw new RangeError(
      'no image in it has a full name (io.containerd.image.name), by which pods could ask for it',
    )
  }
  const platforms = manifests.map(({ platform }) => platform?.architecture)
  return {
    references: [...new Set(references)].toSorted(),
    architectures: platforms.includes(undefined) ? [] : architecturesOf(platforms),
    form: 'oci',
    content: await writer.addBytes(index),
    blobs: distinct(blobs),
  }
}

function architecturesOf(platforms: readonly (string | undefined)[]): Architecture[] {
  const names: readonly [string, Architecture][] = [
    ['amd64', 'x86_64'],
    ['arm64', 'aarch64'],
  ]
  return names.flatMap(([name, own]) => (platforms.includes(name) ? [own] : []))
}

const dockerSchema = z.array(z.object({ RepoTags: z.array(z.string()).nullish() }))

function dockerReferences(text: Buffer): string[] {
  const images = dockerSchema.parse(JSON.parse(text.toString('utf8')))
  const references = images.flatMap(({ RepoTags }) => RepoTags ?? [])
  if (references.length === 0) throw new RangeError('no image in it has a name')
  return [...new Set(references)].toSorted()
}

/** Returns the archive of an OCI layout again, made of its files in the package. The same image gives the same bytes. */
export async function assembleLayout(
  places: PackagePlaces,
  { content, blobs }: PackagedImage,
): Promise<Readable> {
  const { default: tar } = await import('tar-stream')
  const pack = tar.pack()
  const header = (name: string, size: number) => ({ name, size, mode: 0o644, mtime: new Date(0) })
  const fill = async (): Promise<void> => {
    const layoutText = Buffer.from('{"imageLayoutVersion":"1.0.0"}')
    pack.entry(header('oci-layout', layoutText.length), layoutText)
    const files = [
      { name: 'index.json', ref: content },
      ...blobs.map((ref) => ({ name: `blobs/sha256/${ref.sha256}`, ref })),
    ]
    for (const { name, ref } of files) {
      const entry = pack.entry(header(name, ref.bytes))
      await pipeline(createReadStream(blobPath(places, ref)), entry)
    }
    pack.finalize()
  }
  fill().catch((error: unknown) => pack.destroy(error instanceof Error ? error : undefined))
  return pack as unknown as Readable
}
