import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import {
  addImageArchive,
  PackageWriter,
  type Architecture,
  type PackagedEtcd,
  type PackagedImage,
  type PackagedProgram,
  type PackagedRelease,
  type PackageManifest,
} from '@skerry/offline-package'
import { ownArchitecture } from '../program/held-programs.ts'
import { programForMachines } from '../program/program-for-machines.ts'
import { systemPrograms, type ProgramUser } from '../up/programs-table.ts'
import { packagesOf } from '../up/system-packages.ts'
import { etcdPackages } from '../site/etcd/debian-etcd.ts'
import { collectDebs, unknownRelease, type CollectDeps } from './collect-debs.ts'
import { pullImage, whyNoReference } from './pull-image.ts'
import { engineLibraries, etcdRelease, releaseSources } from './releases-table.ts'

/** Other places than the usual ones, by release. */
export interface ArchivePlaces {
  readonly mirror: Readonly<Record<string, string>>
  readonly securityMirror: Readonly<Record<string, string>>
  readonly keyring: Readonly<Record<string, string>>
}

export interface CreatePackageOptions {
  readonly keyFile: string
  readonly output: string
  readonly releases: readonly string[]
  /** Whether masters and witnesses get an etcd. */
  readonly hasEtcd: boolean
  readonly architectures: readonly Architecture[]
  /** The executables by architecture. If omitted, what this process runs from, for its own architecture. */
  readonly programs: Readonly<Record<string, readonly string[]>>
  readonly images: readonly string[]
  readonly imageRefs: readonly string[]
  readonly cacheDirectory: string
  readonly places: ArchivePlaces
}

export interface CreatePackageDeps extends CollectDeps {
  readonly print: (line: string) => void
}

/** Makes an offline package; resolves with its digest. Rejects with an ExpectedError before anything is downloaded if an option is wrong. */
export async function createPackage(
  options: CreatePackageOptions,
  deps: CreatePackageDeps,
  signal: AbortSignal,
): Promise<string> {
  checkOptions(options)
  const privateKey = await readPrivateKey(options.keyFile)
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-package-'))
  await using _scratch = {
    [Symbol.asyncDispose]: () => rm(scratch, { recursive: true, force: true }),
  }
  await using writer = await PackageWriter.create(options.output)
  const parts: Parts = { ...deps, options, writer, scratch, signal }
  const manifest: PackageManifest = {
    kind: 'SkerryOfflinePackage',
    // Older programs read a package that has nothing new for them.
    schemaVersion: options.hasEtcd ? 2 : 1,
    programs: await addPrograms(parts),
    releases: await addReleases(parts),
    images: await addImages(parts),
    ...(options.hasEtcd ? { etcd: await addEtcd(parts) } : {}),
  }
  return writer.finish(manifest, privateKey)
}

/** A master may have a virtual IP one day. */
const machineUsers: readonly ProgramUser[] = ['node', 'virtual IP']

interface Parts extends CreatePackageDeps {
  readonly options: CreatePackageOptions
  readonly writer: PackageWriter
  readonly scratch: string
  readonly signal: AbortSignal
}

function checkOptions(options: CreatePackageOptions): void {
  const { releases, architectures, programs, imageRefs, places } = options
  for (const each of architectures) {
    if (each === ownArchitecture || Object.hasOwn(programs, each)) continue
    const text = `Cannot make package: there is no program for ${each}; give --machine-program ${each}=<path>, which ./skerry build makes on such a machine`
    throw new ExpectedError(text, exitCodes.usage)
  }
  if (releases.length === 0) {
    const text = 'Cannot make package: give --release, the system of the machines, e.g. debian-12'
    throw new ExpectedError(text, exitCodes.usage)
  }
  const named = Object.values(places).flatMap((each: Readonly<Record<string, string>>) =>
    Object.keys(each),
  )
  for (const each of [...releases, ...named]) {
    if (!Object.hasOwn(releaseSources, each)) throw unknownRelease(each)
  }
  for (const each of imageRefs) {
    const why = whyNoReference(each)
    if (why !== undefined) throw new ExpectedError(`Cannot pull image: ${why}`, exitCodes.usage)
  }
}

/** Reads the operator's key, unless others may read it, too. */
async function readPrivateKey(path: string): Promise<string> {
  try {
    const { mode } = await stat(path)
    if ((mode & 0o077) === 0) return await readFile(path, 'utf8')
  } catch (error) {
    const text = `Cannot read key ${path}: ${messageOf(error)}; "skerry package key" makes one`
    throw new ExpectedError(text, exitCodes.usage, { cause: error })
  }
  const text = `Cannot use key ${path}: others may read it; run chmod 600 ${path}`
  throw new ExpectedError(text, exitCodes.usage)
}

async function addPrograms({ options, writer, scratch, print, signal }: Parts) {
  const added: PackagedProgram[] = []
  for (const architecture of options.architectures.toSorted()) {
    const sources = {
      programs: options.programs,
      archiveDirectory: scratch,
      role: 'program' as const,
    }
    const { version, files, archive } = await programForMachines(architecture, sources, signal)
    print(`program ${version} for ${architecture}`)
    const [file] = files
    if (file === undefined) throw new Error('Cannot package program: it has no file')
    const main = await writer.addFile(file.from, signal)
    const common = { architecture, version }
    if (archive === undefined) added.push({ ...common, form: 'executable', content: main })
    else {
      const engine = { version: process.versions.node, file: main }
      const content = await writer.addFile(archive, signal)
      added.push({ ...common, form: 'bundle', content, engine })
    }
  }
  return added
}

async function addReleases({ options, writer, print, clock, random, signal }: Parts) {
  const { places, cacheDirectory } = options
  const packages = packagesOf(
    systemPrograms.filter(({ neededBy }) => machineUsers.includes(neededBy)),
  )
  const added: PackagedRelease[] = []
  for (const name of [...new Set(options.releases)].toSorted()) {
    for (const architecture of options.architectures.toSorted()) {
      const request = {
        release: name,
        architecture,
        packages: [...packages, ...engineLibraries].toSorted(),
        cacheDirectory: join(cacheDirectory, `${name}-${architecture}`),
        mirror: places.mirror[name],
        securityMirror: places.securityMirror[name],
        keyring: places.keyring[name],
      }
      const debs: PackagedRelease['debs'] = []
      for (const { path, ...names } of await collectDebs(request, { clock, random }, signal)) {
        // The writer parses the manifest before it signs, so names that are not Debian's end this.
        const deb = { ...names, file: await writer.addFile(path, signal) }
        debs.push(deb as PackagedRelease['debs'][number])
      }
      print(`${debs.length} packages of ${name} for ${architecture}`)
      added.push({ name, architecture, debs })
    }
  }
  return added
}

/** The programs of Debian 13 run on every release, and those of older ones have an etcd that is too old. */
async function addEtcd({ options, writer, print, clock, random, signal }: Parts) {
  const { places, cacheDirectory } = options
  const added: PackagedEtcd[] = []
  for (const architecture of options.architectures.toSorted()) {
    const request = {
      release: etcdRelease,
      architecture,
      packages: etcdPackages,
      isAlone: true,
      cacheDirectory: join(cacheDirectory, `${etcdRelease}-${architecture}`),
      mirror: places.mirror[etcdRelease],
      securityMirror: places.securityMirror[etcdRelease],
      keyring: places.keyring[etcdRelease],
    }
    const debs: PackagedEtcd['debs'] = []
    for (const { path, ...names } of await collectDebs(request, { clock, random }, signal)) {
      const deb = { ...names, file: await writer.addFile(path, signal) }
      debs.push(deb as PackagedEtcd['debs'][number]) // the writer parses the manifest before it signs
    }
    print(`etcd ${debs[0]?.version ?? ''} for ${architecture}`)
    added.push({ architecture, debs })
  }
  return added
}

async function addImages({ options, writer, scratch, print, signal }: Parts) {
  const added: PackagedImage[] = []
  for (const path of options.images) added.push(await addImageArchive(writer, path, signal))
  for (const reference of options.imageRefs) {
    for (const architecture of options.architectures) {
      const path = join(scratch, 'pulled.tar')
      await pullImage(reference, { architecture, path }, signal)
      const image = await addImageArchive(writer, path, signal)
      added.push({ ...image, architectures: [architecture] })
      await rm(path)
    }
  }
  for (const { references } of added) print(`images ${references.join(', ')}`)
  const order = (image: PackagedImage): string => image.content.sha256
  const bySum = new Map(added.map((image) => [order(image), image]))
  return [...bySum.values()].toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
}
