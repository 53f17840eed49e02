import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes, type Connect } from '@skerry/base'
import { createHttpsTransport, fixedCredentials } from '@skerry/client'
import { blobsOfImage, type MachineShare } from '@skerry/offline-package'
import { places, readSystem, type OwnMachineContext } from '@skerry/provisioning'
import type { LinePackage } from '../../program/package-key.ts'
import { packagedEtcd } from '../../site/etcd/etcd-program.ts'
import { findMissingPrograms } from '../../up/system-packages.ts'
import { installPackage } from '../install-package.ts'
import { machineBounds } from '../limits-table.ts'
import { absentText, bytesOf, fetchAll, megabytes, type NamedFile } from './fetch-all.ts'
import { isWhole, type PackageServer } from './fetch-file.ts'
import { readShare } from './read-share.ts'

const { spareBytes } = machineBounds.takePackage

export interface TakePackageOptions {
  readonly offline: LinePackage
  readonly server: string
  readonly token: string
  /** The server's authority, which the line has pinned. */
  readonly authorityPem: string
  readonly connect: Connect
}

/**
 * Takes what this machine lacks of an offline package from the server of a line: system packages, and images. Nothing is
 * installed before the operator's signature and every file were checked. Resolves with the result in a few words; rejects
 * with an ExpectedError.
 */
export async function takePackage(
  options: TakePackageOptions,
  context: OwnMachineContext,
): Promise<string> {
  const { server, token, authorityPem: certificateAuthority, connect } = options
  const { clock, signal } = context
  const credentials = fixedCredentials({ bearerToken: token })
  const config = { server, certificateAuthority, connect, credentials }
  using transport = createHttpsTransport(config, { clock })
  return await takeFrom({ server, transport, clock, signal }, options.offline, context)
}

async function takeFrom(
  from: PackageServer,
  offline: LinePackage,
  context: OwnMachineContext,
): Promise<string> {
  const { digest, publicKey } = offline
  const { print, shell, signal } = context
  const system = await readSystem(context)
  const hasPackages = (await findMissingPrograms(['node'])).length === 0
  const { share, signed } = await readShare(from, offline, { ...system, hasPackages })
  await makeDirectories()
  const missing = await missingFiles(share, { ...system, hasPackages }, signal)
  const absent = await fetchAll(missing, { from, digest, directory: places.blobs, print })
  const directory = join(places.packages, digest.slice('sha256:'.length))
  await shell.write(join(directory, 'manifest.json'), signed.manifest, 0o600)
  await shell.write(join(directory, 'manifest.sig'), signed.signature, 0o600)
  await shell.write(places.packageKey, publicKey, 0o644)
  try {
    await installPackage(installOptions(digest), print, signal)
  } catch (error) {
    if (!(error instanceof ExpectedError) || absent.length === 0) throw error
    const text = `${error.message}; ${absentText(absent, from.server)}`
    throw new ExpectedError(text, error.exitCode, { cause: error })
  }
  return `package ${digest} is installed`
}

async function makeDirectories(): Promise<void> {
  await mkdir(places.data, { recursive: true })
  await chmod(places.data, 0o711)
  await mkdir(places.blobs, { recursive: true, mode: 0o700 })
  await chmod(places.packages, 0o700)
}

type SystemFacts = Awaited<ReturnType<typeof readSystem>> & { readonly hasPackages: boolean }

/** Returns the files that this machine needs and lacks. Without a missing program it needs no system package. */
async function missingFiles(
  { release, images }: MachineShare,
  { installed, freeBytes, hasPackages }: SystemFacts,
  signal: AbortSignal,
): Promise<NamedFile[]> {
  const debs = hasPackages ? [] : release.debs
  const lacking = debs.filter(({ name, version }) => !installed.has(`${name} ${version}`))
  const imageFiles = images.flatMap((image) =>
    blobsOfImage(image).map((file) => ({ name: image.references[0] ?? '', file })),
  )
  const wanted = new Map([...lacking, ...imageFiles].map((each) => [each.file.sha256, each]))
  const missing: NamedFile[] = []
  for (const { name, file } of wanted.values()) {
    const isThere = await isWhole(join(places.blobs, file.sha256), file, signal)
    if (!isThere) missing.push({ name, file })
  }
  // Images are unpacked in addition.
  const needed = bytesOf(missing) + bytesOf(imageFiles) + spareBytes
  if (missing.length === 0 || freeBytes >= needed) return missing
  const text = `Cannot take the package: ${places.data} has ${megabytes(freeBytes)} free, and it needs ${megabytes(needed)}; make room and paste the line again`
  throw new ExpectedError(text, exitCodes.failure)
}

function installOptions(digest: string): Parameters<typeof installPackage>[0] {
  return {
    digest,
    publicKeyFile: places.packageKey,
    packagesDirectory: places.packages,
    imagesDirectory: places.images,
    etcdDirectory: packagedEtcd,
    node: { nodeDir: join(places.data, 'node'), runDir: '/run/skerry/node' },
    hasProgram: false,
  }
}
