import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

export interface LayerFile {
  /** Has no leading slash. Ends in / for a directory. */
  path: string
  content?: Uint8Array
  /** The octal permissions. If omitted, 0o755. */
  mode?: number
  /** A symbolic link to this. */
  linkTo?: string
}

export interface ImageShape {
  /** The full reference, e.g. docker.io/library/web:1. */
  reference: string
  architecture: 'amd64' | 'arm64'
  files: readonly LayerFile[]
  entrypoint?: readonly string[]
  cmd?: readonly string[]
  env?: readonly string[]
  user?: string
  workingDir?: string
  exposedPorts?: readonly string[]
}

/**
 * An OCI image layout of one layer, as a tar that containerd imports. The same shape gives the
 * same bytes, so that importing it again changes nothing.
 */
export async function buildOciArchive(shape: ImageShape): Promise<Uint8Array> {
  const layer = await tarOf(shape.files)
  const compressed = gzipSync(layer)
  const config = jsonBytes({
    architecture: shape.architecture,
    os: 'linux',
    config: {
      ...(shape.entrypoint ? { Entrypoint: shape.entrypoint } : {}),
      ...(shape.cmd ? { Cmd: shape.cmd } : {}),
      ...(shape.env ? { Env: shape.env } : {}),
      ...(shape.user ? { User: shape.user } : {}),
      ...(shape.workingDir ? { WorkingDir: shape.workingDir } : {}),
      ...(shape.exposedPorts
        ? { ExposedPorts: Object.fromEntries(shape.exposedPorts.map((port) => [port, {}])) }
        : {}),
    },
    rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
  })
  const manifest = jsonBytes({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: descriptor('application/vnd.oci.image.config.v1+json', config),
    layers: [descriptor('application/vnd.oci.image.layer.v1.tar+gzip', compressed)],
  })
  const index = jsonBytes({
    schemaVersion: 2,
    manifests: [
      {
        ...descriptor('application/vnd.oci.image.manifest.v1+json', manifest),
        annotations: { 'io.containerd.image.name': shape.reference },
        platform: { architecture: shape.architecture, os: 'linux' },
      },
    ],
  })
  const blobs = [compressed, config, manifest].map((content) => ({
    path: `blobs/${digestOf(content).replace(':', '/')}`,
    content,
    mode: 0o644,
  }))
  return tarOf([
    { path: 'oci-layout', content: jsonBytes({ imageLayoutVersion: '1.0.0' }), mode: 0o644 },
    { path: 'index.json', content: index, mode: 0o644 },
    ...blobs,
  ])
}

async function tarOf(files: readonly LayerFile[]): Promise<Uint8Array> {
  const archive = pack()
  for (const file of files) {
    const header = { name: file.path, mode: file.mode ?? 0o755, mtime: new Date(0) }
    if (file.linkTo !== undefined) {
      archive.entry({ ...header, type: 'symlink', linkname: file.linkTo })
    } else if (file.path.endsWith('/')) archive.entry({ ...header, type: 'directory' })
    else archive.entry(header, Buffer.from(file.content ?? new Uint8Array()))
  }
  archive.finalize()
  const chunks: Uint8Array[] = []
  // The type does not state it, but pack() emits Buffers.
  for await (const chunk of archive) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks)
}

function jsonBytes(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}

function digestOf(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

function descriptor(mediaType: string, content: Uint8Array): object {
  return { mediaType, digest: digestOf(content), size: content.length }
}
