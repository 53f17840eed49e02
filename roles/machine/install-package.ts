import { link, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import {
  assembleLayout,
  blobPath,
  blobsOf,
  blobsOfEtcd,
  blobsOfImage,
  blobsOfProgram,
  checkBlobs,
  isOlder,
  openPackage,
  shareOf,
  versionOf,
  type BlobRef,
  type MachineKind,
  type MachineShare,
  type OpenedPackage,
  type PackagedImage,
} from '@skerry/offline-package'
import { offlineAptScript } from '@skerry/provisioning'
import { importArchive } from '../node/image.ts'
import { containerdSocket } from '../node/node-containerd.ts'
import type { ProgramUser, SystemProgram } from '../up/programs-table.ts'
import { installEtcd } from './install-etcd.ts'
import { planPath, programUsersOf, readMachinePlan } from './machine-plan.ts'
import { findMissingPrograms, installPrograms, packagesOf } from '../up/system-packages.ts'
import { packageRecord } from '../program/package-record.ts'
import { exists } from '../runtime/files.ts'

export interface InstallPackageOptions {
  /** sha256:<hex>, the package that is meant. */
  readonly digest: string
  readonly publicKeyFile: string
  /** The directory of packages, each in one named by its digest, with their files in blobs/sha256. */
  readonly packagesDirectory: string
  /** The directory from which the node imports images. */
  readonly imagesDirectory: string
  /** The directory of the etcd that masters and witnesses run. */
  readonly etcdDirectory: string
  /** The directories of the node, which gets the images at once if it runs. */
  readonly node: { readonly nodeDir: string; readonly runDir: string }
  /** False: the program came from elsewhere, and that of the package is not here. Default: true. */
  readonly hasProgram?: boolean
}

/**
 * Installs an offline package that was copied to this machine: system packages that it lacks, and images. The operator's
 * signature and every file that this machine uses are checked first. The last line that is printed is the result.
 */
export async function installPackage(
  options: InstallPackageOptions,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { packagesDirectory, hasProgram = true } = options
  const opened = await openCopied(options)
  const missing = await findMissingPrograms(await programUsers())
  const hasPackages = missing.length === 0
  const share = shareOf(opened.manifest, await thisMachine(), { hasPackages })
  const debs = await presentOf(
    opened,
    share.release.debs.map(({ file }) => file),
  )
  const images = share.images.flatMap(blobsOfImage)
  // Machines without a member of etcd do not get its files.
  const etcd = await presentOf(opened, share.etcd === undefined ? [] : blobsOfEtcd(share.etcd))
  const program = hasProgram ? blobsOfProgram(share.program) : []
  const used = [...program, ...debs, ...images, ...etcd]
  await checkBlobs(opened, used, signal)
  print(`package ${opened.digest}: signature and ${used.length} files are right`)
  const record = packageRecord(packagesDirectory)
  const before = await record.read()
  const isStepBack = before !== undefined && isOlder(versionOf(opened.manifest), before.version)
  const installed = await installDebs(opened, { missing, debs }, { print, signal })
  if (share.etcd !== undefined && etcd.length === share.etcd.debs.length) {
    const directory = options.etcdDirectory
    print(`etcd ${await installEtcd(share.etcd, opened, { directory, signal })}`)
  }
  await placeImages(opened, share, options)
  await importIfNodeRuns(share, options, signal)
  const version = versionOf(opened.manifest)
  const previous = await record.write({ digest: opened.digest, version })
  await removeOld(opened, packagesDirectory, previous)
  const note = isStepBack ? `; it is older than ${before.version}, which was here before` : ''
  print(`${installed} system packages, ${share.images.length} image archives${note}`)
}

/** Opens the package that is meant. Nothing but its digest names its directory. */
async function openCopied(options: InstallPackageOptions): Promise<OpenedPackage> {
  const hex = /^sha256:([0-9a-f]{64})$/.exec(options.digest)?.[1]
  if (hex === undefined) {
    const text = 'Cannot install package: --package must be sha256: and 64 hexadecimal digits'
    throw new ExpectedError(text, exitCodes.usage)
  }
  const directory = join(options.packagesDirectory, hex)
  const publicKey = await readKey(options.publicKeyFile)
  const places = {
    manifest: join(directory, 'manifest.json'),
    signature: join(directory, 'manifest.sig'),
    blobs: join(options.packagesDirectory, 'blobs', 'sha256'),
  }
  const opened = await openPackage(places, publicKey)
  if (opened.digest === options.digest) return opened
  const text = `Cannot install package: ${directory} has another one, ${opened.digest}; copy it again`
  throw new ExpectedError(text, exitCodes.failure)
}

async function readKey(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    const text = `Cannot read public key ${path}: ${messageOf(cause)}`
    throw new ExpectedError(text, exitCodes.usage, { cause })
  })
}

async function thisMachine(): Promise<MachineKind> {
  const text = await readFile('/etc/os-release', 'utf8')
  const value = (name: string): string =>
    new RegExp(`^${name}="?([^"\\n]*)"?$`, 'm').exec(text)?.[1] ?? ''
  const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  return { architecture, release: `${value('ID')}-${value('VERSION_ID')}` }
}

/** Packages that the machine has in this version are not copied to it, so their files are not there. */
async function presentOf({ places }: OpenedPackage, blobs: readonly BlobRef[]): Promise<BlobRef[]> {
  const found: BlobRef[] = []
  for (const each of blobs) if (await exists(blobPath(places, each))) found.push(each)
  return found
}

interface Lacking {
  readonly missing: readonly SystemProgram[]
  readonly debs: readonly BlobRef[]
}

async function installDebs(
  { places }: OpenedPackage,
  { missing, debs }: Lacking,
  { print, signal }: { readonly print: (line: string) => void; readonly signal: AbortSignal },
): Promise<number> {
  const packages = packagesOf(missing)
  if (packages.length === 0) return 0
  print(`installing ${packages.join(' ')}`)
  const digests = debs.map(({ sha256 }) => sha256)
  const files = { directory: places.blobs, digests, script: offlineAptScript }
  await installPrograms(missing, signal, { files })
  return packages.length
}

/** A machine that is prepared has a plan, which may ask for more than a node. */
async function programUsers(): Promise<ProgramUser[]> {
  if (!(await exists(planPath))) return ['node']
  return programUsersOf(await readMachinePlan(planPath))
}

/** Puts the archives where the node imports them from, each under its digest, and removes those of older packages. */
async function placeImages(
  opened: OpenedPackage,
  { images }: MachineShare,
  { imagesDirectory }: InstallPackageOptions,
): Promise<void> {
  await mkdir(imagesDirectory, { recursive: true, mode: 0o755 })
  for (const image of images) {
    const path = join(imagesDirectory, archiveName(image))
    if (await exists(path)) continue
    const part = `${path}.part`
    await rm(part, { force: true })
    await writeArchive(opened, image, part)
    await rename(part, path)
  }
  const names = new Set(images.map(archiveName))
  for (const name of await readdir(imagesDirectory)) {
    if (!/^package-[0-9a-f]{64}\.tar(\.part)?$/.test(name) || names.has(name)) continue
    await rm(join(imagesDirectory, name))
  }
}

/** The index of a layout and the archive of Docker name all of their content, so their digests may name the file. */
function archiveName({ content }: PackagedImage): string {
  return `package-${content.sha256}.tar`
}

/** A node that does not run yet imports them when it starts. */
async function importIfNodeRuns(
  { images }: MachineShare,
  { imagesDirectory, node }: InstallPackageOptions,
  signal: AbortSignal,
): Promise<void> {
  if (!(await exists(containerdSocket(node.runDir)))) return
  for (const image of images) {
    await importArchive(join(imagesDirectory, archiveName(image)), node, signal)
  }
}

async function writeArchive(
  { places }: OpenedPackage,
  image: PackagedImage,
  path: string,
): Promise<void> {
  if (image.form === 'docker') return link(blobPath(places, image.content), path)
  await pipeline(await assembleLayout(places, image), createWriteStream(path, { mode: 0o600 }))
  // After a power cut an archive must be whole or missing: the node imports it without another look.
  await using file = await open(path)
  await file.sync()
}

/** Removes packages but this one and the one before, to which a machine may go back, and the files of no package. */
async function removeOld(
  opened: OpenedPackage,
  directory: string,
  before: string | undefined,
): Promise<void> {
  const kept = new Set([opened.digest, before].map((digest) => digest?.slice('sha256:'.length)))
  const blobs = new Set(blobsOf(opened.manifest).map(({ sha256 }) => sha256))
  for (const name of await readdir(directory)) {
    if (!/^[0-9a-f]{64}$/.test(name)) continue
    if (!kept.has(name)) await rm(join(directory, name), { recursive: true })
    else for (const sum of await sumsIn(join(directory, name, 'manifest.json'))) blobs.add(sum)
  }
  for (const name of await readdir(opened.places.blobs)) {
    if (!blobs.has(name)) await rm(join(opened.places.blobs, name), { recursive: true })
  }
}

/** Every digest in a text. The former manifest may be damaged, which must not keep the new package from being used. */
async function sumsIn(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.match(/\b[0-9a-f]{64}\b/g) ?? []
}
