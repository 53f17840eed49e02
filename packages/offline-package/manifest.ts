import { createHash } from 'node:crypto'
import * as z from 'zod'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { packageBounds as bounds } from './limits-table.ts'

/** A file of the package. Its name there follows from its digest, whatever else the manifest says. */
const blob = z.strictObject({
  /** The SHA-256 in hexadecimal digits. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().min(0).max(bounds.blobBytesMax),
})

/** Architectures as `uname -m` names them. */
const architecture = z.enum(['x86_64', 'aarch64'])

const program = z.strictObject({
  architecture,
  version: z.string().regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}([-+][0-9A-Za-z.+-]{1,80})?$/),
  /** An executable is one file; a bundle is an engine and a tar file with scripts. */
  form: z.enum(['executable', 'bundle']),
  content: blob,
  engine: z
    .strictObject({ version: z.string().regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}$/), file: blob })
    .optional(),
})

/** A Debian package. The patterns are those of Debian's policy, chapter 5, with bounds. */
const deb = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9+.-]{1,127}$/),
  version: z.string().regex(/^[0-9][0-9A-Za-z.+:~-]{0,127}$/),
  architecture: z.enum(['amd64', 'arm64', 'all']),
  file: blob,
})

const release = z.strictObject({
  /** ID and VERSION_ID of /etc/os-release. */
  name: z.string().regex(/^(debian-\d{1,3}|ubuntu-\d{2}\.\d{2})$/),
  architecture,
  debs: z.array(deb).max(bounds.debsOfReleaseMax),
})

const image = z.strictObject({
  /** The names by which pods ask for the images. */
  references: z
    .array(z.string().regex(/^[a-z0-9][\w.:/@-]{0,254}$/i))
    .min(1)
    .max(bounds.referencesOfImageMax),
  /** The machines for which the images are; an empty list means that the archive does not say it. */
  architectures: z.array(architecture).max(2),
  /** An OCI layout is kept as its index and blobs, so that archives share layers; a Docker archive as one file. */
  form: z.enum(['oci', 'docker']),
  /** The index.json of a layout, or the whole archive. */
  content: blob,
  blobs: z.array(blob).max(bounds.blobsOfImageMax),
})

/** An etcd for masters and witnesses, as Debian packages of which only the programs are taken: it serves every release. */
const etcd = z.strictObject({ architecture, debs: z.array(deb).min(1).max(bounds.debsOfEtcdMax) })

const manifestSchema = z.strictObject({
  kind: z.literal('SkerryOfflinePackage'),
  /** 2 since packages may have an etcd. */
  schemaVersion: z.union([z.literal(1), z.literal(2)]),
  programs: z.array(program).max(bounds.programsMax),
  releases: z.array(release).max(bounds.releasesMax),
  images: z.array(image).max(bounds.imagesMax),
  etcd: z.array(etcd).max(bounds.programsMax).optional(),
})

export type PackageManifest = z.infer<typeof manifestSchema>
export type BlobRef = z.infer<typeof blob>
export type PackagedProgram = z.infer<typeof program>
export type PackagedRelease = z.infer<typeof release>
export type PackagedImage = z.infer<typeof image>
export type PackagedEtcd = z.infer<typeof etcd>
export type Architecture = z.infer<typeof architecture>

/** Returns the manifest's bytes. The same content gives the same bytes. */
export function manifestBytes(manifest: PackageManifest): Buffer {
  return Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`)
}

/** Parses a manifest. Throws an ExpectedError that names the field which is wrong. */
export function parseManifest(bytes: Uint8Array): PackageManifest {
  try {
    const manifest = manifestSchema.parse(JSON.parse(new TextDecoder().decode(bytes)))
    for (const { form, engine, version } of manifest.programs) {
      if ((form === 'bundle') === (engine !== undefined)) continue
      throw new RangeError(`program ${version} is a ${form} and has ${engine ? 'an' : 'no'} engine`)
    }
    if (manifest.etcd !== undefined && manifest.schemaVersion === 1) {
      throw new RangeError('schemaVersion 1 has no etcd')
    }
    return manifest
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error)
    const text = `Cannot use package: its manifest is wrong: ${why.slice(0, 500)}`
    throw new ExpectedError(text, exitCodes.failure, { cause: error })
  }
}

/** Returns the name of a package: the digest of its manifest, which names everything else. */
export function packageDigest(manifest: Uint8Array): string {
  return `sha256:${createHash('sha256').update(manifest).digest('hex')}`
}

/** Returns every file that a manifest names, each once, in the order of their digests. */
export function blobsOf(manifest: PackageManifest): BlobRef[] {
  return distinct([
    ...manifest.programs.flatMap(blobsOfProgram),
    ...manifest.releases.flatMap(({ debs }) => debs.map(({ file }) => file)),
    ...manifest.images.flatMap(blobsOfImage),
    ...(manifest.etcd ?? []).flatMap(blobsOfEtcd),
  ])
}

export function blobsOfEtcd({ debs }: Pick<PackagedEtcd, 'debs'>): BlobRef[] {
  return debs.map(({ file }) => file)
}

export function blobsOfProgram({ content, engine }: PackagedProgram): BlobRef[] {
  return engine === undefined ? [content] : [content, engine.file]
}

export function blobsOfImage({ content, blobs }: PackagedImage): BlobRef[] {
  return [content, ...blobs]
}

/** Returns each file once, in the order of the digests. */
export function distinct(blobs: readonly BlobRef[]): BlobRef[] {
  const bySum = new Map(blobs.map((each) => [each.sha256, each]))
  return [...bySum.values()].toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1))
}

/** The parts of a package that one machine needs. */
export interface MachineShare {
  readonly program: PackagedProgram
  readonly release: PackagedRelease
  readonly images: readonly PackagedImage[]
  /** Undefined if the package has no etcd for the architecture. */
  readonly etcd: PackagedEtcd | undefined
}

/** A machine as it describes itself: anything, if it is hostile. */
export interface MachineKind {
  readonly architecture: string
  /** ID and VERSION_ID of /etc/os-release, such as debian-12. */
  readonly release: string
}

/**
 * Returns the parts for a machine; `hasPackages` says that it has all system packages, so that the package need not have its
 * release. Throws an ExpectedError that says what the package lacks.
 */
export function shareOf(
  manifest: PackageManifest,
  machine: MachineKind,
  { hasPackages = false }: { readonly hasPackages?: boolean } = {},
): MachineShare {
  const { architecture: own, release: system } = machine
  const found = manifest.programs.find((each) => each.architecture === own)
  if (found === undefined) {
    throw lacking(
      `program for ${own}`,
      manifest.programs.map((each) => each.architecture),
    )
  }
  const packages = manifest.releases.find(
    (each) => each.name === system && each.architecture === own,
  )
  if (packages === undefined && !hasPackages) {
    const there = manifest.releases.map((each) => `${each.name} on ${each.architecture}`)
    throw lacking(`packages for ${system} on ${own}`, there)
  }
  const images = manifest.images.filter(
    ({ architectures }) => architectures.length === 0 || architectures.some((each) => each === own),
  )
  const etcdHere = manifest.etcd?.find((each) => each.architecture === own)
  const none = { name: system, architecture: found.architecture, debs: [] }
  return { program: found, release: packages ?? none, images, etcd: etcdHere }
}

function lacking(what: string, there: readonly string[]): ExpectedError {
  const text = `Cannot use package: it has no ${what}, only ${there.join(', ') || 'none'}; make one with "skerry package create"`
  return new ExpectedError(text, exitCodes.failure)
}

/** Returns the version of the program, or an empty text if the package has none. */
export function versionOf({ programs }: PackageManifest): string {
  return programs[0]?.version ?? ''
}

/** Returns true if the first version is lower than the second; the text behind a dash or plus does not count. */
export function isOlder(first: string, second: string): boolean {
  const numbers = (text: string): number[] => (text.split(/[-+]/)[0] ?? '').split('.').map(Number)
  const [a, b] = [numbers(first), numbers(second)]
  const at = a.findIndex((number, index) => number !== b[index])
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0)
}
