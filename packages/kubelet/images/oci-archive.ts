import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { pack, type Pack } from 'tar-stream'

const compress = promisify(gzip)

export interface LayerFile {
  /** The path has no leading slash. */
  path: string
  /** If omitted, it is a directory. */
  content?: Uint8Array | string
  /** A symbolic link to this target, instead of content. */
  linkTo?: string
  /** The permission bits. If omitted, 0644 for files and 0755 for directories. */
  mode?: number
}

/** One file system layer of an image (OCI image specification 1.1, layer.md). */
export interface ImageLayer {
  tarGz: Uint8Array
  /** The sha256 of the uncompressed tar. */
  diffId: string
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
  layers: readonly ImageLayer[]
  config: ImageConfig
  /** If omitted, this machine's. */
  architecture?: 'amd64' | 'arm64'
}

/** The same files give the same bytes, so that importing an image again changes nothing. */
export async function imageLayerOfFiles(files: readonly LayerFile[]): Promise<ImageLayer> {
  const tar = pack()
  for (const { path: name, content, linkTo, mode } of files) {
    const common = { name, mtime: new Date(0) }
    if (linkTo !== undefined) {
      tar.entry({ ...common, type: 'symlink', linkname: linkTo, mode: mode ?? 0o644 })
    } else if (content === undefined) {
      tar.entry({ ...common, type: 'directory', mode: mode ?? 0o755 })
    } else {
      tar.entry({ ...common, mode: mode ?? 0o644 }, Buffer.from(content))
    }
  }
  tar.finalize()
  return imageLayerOfTar(Buffer.concat(await Array.fromAsync(chunksOf(tar))))
}

export async function imageLayerOfTar(tar: Uint8Array): Promise<ImageLayer> {
  return { tarGz: await compress(tar), diffId: contentDigest(tar) }
}

/** The two documents that make layers an image. */
export interface ImageDocuments {
  config: Uint8Array
  manifest: Uint8Array
}

export const imageManifestType = 'application/vnd.oci.image.manifest.v1+json'

export function imageDocuments(options: Omit<ImageOptions, 'reference'>): ImageDocuments {
  const config = json({
    ...platformOf(options),
    config: options.config,
    rootfs: { type: 'layers', diff_ids: options.layers.map((layer) => layer.diffId) },
  })
  const manifest = json({
    schemaVersion: 2,
    mediaType: imageManifestType,
    config: descriptor('application/vnd.oci.image.config.v1+json', config),
    layers: options.layers.map((layer) =>
      descriptor('application/vnd.oci.image.layer.v1.tar+gzip', layer.tarGz),
    ),
  })
  return { config, manifest }
}

/**
 * Writes an OCI image layout as a tar that containerd, Docker and podman import. It has shared layers only
 * once.
 */
export function ociArchive(images: readonly ImageOptions[]): AsyncIterable<Uint8Array> {
  const blobs = new Map<string, Uint8Array>()
  const manifests = images.map((options) => {
    const { config, manifest } = imageDocuments(options)
    for (const blob of [config, manifest, ...options.layers.map((layer) => layer.tarGz)]) {
      blobs.set(contentDigest(blob), blob)
    }
    return {
      ...descriptor(imageManifestType, manifest),
      annotations: { 'io.containerd.image.name': options.reference },
      platform: platformOf(options),
    }
  })
  const tar = pack()
  const entry = (name: string, content: Uint8Array): void =>
    void tar.entry({ name, mode: 0o644, mtime: new Date(0) }, Buffer.from(content))
  entry('oci-layout', json({ imageLayoutVersion: '1.0.0' }))
  entry('index.json', json({ schemaVersion: 2, manifests }))
  for (const [digest, blob] of blobs) entry(`blobs/${digest.replace(':', '/')}`, blob)
  tar.finalize()
  return chunksOf(tar)
}

async function* chunksOf(tar: Pack): AsyncGenerator<Uint8Array> {
  // A tar stream without an encoding gives buffers, though its type does not state it.
  for await (const chunk of tar) yield chunk as Uint8Array
}

/** Returns a content's digest as manifests and registries name it. */
export function contentDigest(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

function platformOf({ architecture }: Pick<ImageOptions, 'architecture'>) {
  const own = process.arch === 'arm64' ? 'arm64' : 'amd64'
  return { architecture: architecture ?? own, os: 'linux' }
}

function descriptor(mediaType: string, content: Uint8Array): object {
  return { mediaType, digest: contentDigest(content), size: content.length }
}

function json(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}
