import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { pack } from 'tar-stream'

const compress = promisify(gzip)

/** One file system layer of an image (OCI image specification 1.1, layer.md). */
export interface Layer {
  tarGz: Uint8Array
  /** The sha256 of the uncompressed tar. */
  diffId: string
}

export interface LayerFile {
  /** The path has no leading slash. */
  path: string
  /** If omitted, it is a directory. */
  content?: Uint8Array | string
  /** A symbolic link to this target, instead of content. */
  linkTo?: string
  /** The permission bits; default 0644 for files, 0755 for directories. */
  mode?: number
}

export interface ImageConfig {
  Entrypoint?: string[]
  Cmd?: string[]
  Env?: string[]
  User?: string
  WorkingDir?: string
  ExposedPorts?: Record<string, object>
}

export interface ImageOptions {
  /** The full reference with host and tag, e.g. docker.io/library/app:v1. */
  reference: string
  layers: readonly Layer[]
  config: ImageConfig
}

export async function layerOfFiles(files: readonly LayerFile[]): Promise<Layer> {
  const tar = pack()
  for (const file of files) {
    const common = { name: file.path, mtime: new Date(0) }
    if (file.linkTo !== undefined) {
      tar.entry({ ...common, type: 'symlink', linkname: file.linkTo })
    } else if (file.content === undefined) {
      tar.entry({ ...common, type: 'directory', mode: file.mode ?? 0o755 })
    } else {
      tar.entry({ ...common, mode: file.mode ?? 0o644 }, Buffer.from(file.content))
    }
  }
  tar.finalize()
  const chunks: Buffer[] = []
  // A tar stream without an encoding gives buffers.
  for await (const chunk of tar) chunks.push(chunk as Buffer)
  return layerOfTar(Buffer.concat(chunks))
}

/** The directory's tree as one layer, owned by root, with time stamps of zero so that equal trees give equal bytes. */
export async function layerOfDirectory(directory: string): Promise<Layer> {
  const flags = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner']
  const child = spawn('tar', ['-C', directory, ...flags, '-c', '.'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', resolve)
  })
  const chunks = await Array.fromAsync(child.stdout)
  const code = await ended
  if (code !== 0) throw new Error(`Cannot archive ${directory}: tar ended with ${code}`)
  return layerOfTar(Buffer.concat(chunks))
}

async function layerOfTar(tar: Buffer): Promise<Layer> {
  return { tarGz: await compress(tar, { level: 6 }), diffId: digestOf(tar) }
}

/** The two documents that make layers an image. */
export interface ImageDocuments {
  config: Buffer
  manifest: Buffer
}

export const manifestMediaType = 'application/vnd.oci.image.manifest.v1+json'

/** Returns the documents of an image for this machine's architecture. */
export function imageDocuments(options: Omit<ImageOptions, 'reference'>): ImageDocuments {
  const config = json({
    ...imagePlatform(),
    config: options.config,
    rootfs: { type: 'layers', diff_ids: options.layers.map((layer) => layer.diffId) },
  })
  const manifest = json({
    schemaVersion: 2,
    mediaType: manifestMediaType,
    config: descriptor('application/vnd.oci.image.config.v1+json', config),
    layers: options.layers.map((layer) =>
      descriptor('application/vnd.oci.image.layer.v1.tar+gzip', layer.tarGz),
    ),
  })
  return { config, manifest }
}

function imagePlatform(): { architecture: string; os: string } {
  return { architecture: process.arch === 'arm64' ? 'arm64' : 'amd64', os: 'linux' }
}

/** Writes an OCI image layout as a tar that containerd, Docker and podman import. */
export async function writeOciArchive(path: string, options: ImageOptions): Promise<void> {
  await writeOciArchiveOfMany(path, [options])
}

/** Writes several images into one archive, with shared layers only once. */
export async function writeOciArchiveOfMany(
  path: string,
  images: readonly ImageOptions[],
): Promise<void> {
  const blobs: Uint8Array[] = []
  const manifests = images.map((options) => {
    const { config, manifest } = imageDocuments(options)
    blobs.push(config, manifest, ...options.layers.map((layer) => layer.tarGz))
    return {
      ...descriptor(manifestMediaType, manifest),
      annotations: { 'io.containerd.image.name': options.reference },
      platform: imagePlatform(),
    }
  })
  await writeLayout(path, json({ schemaVersion: 2, manifests }), blobs)
}

async function writeLayout(
  path: string,
  index: Buffer,
  blobs: readonly Uint8Array[],
): Promise<void> {
  const tar = pack()
  const written = pipeline(tar, createWriteStream(path))
  tar.entry({ name: 'oci-layout' }, json({ imageLayoutVersion: '1.0.0' }))
  tar.entry({ name: 'index.json' }, index)
  const seen = new Set<string>()
  for (const blob of blobs) {
    const digest = digestOf(blob)
    if (seen.has(digest)) continue
    seen.add(digest)
    tar.entry({ name: `blobs/${digest.replace(':', '/')}` }, Buffer.from(blob))
  }
  tar.finalize()
  await written
}

function descriptor(mediaType: string, bytes: Uint8Array): object {
  return { mediaType, digest: digestOf(bytes), size: bytes.length }
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value))
}
