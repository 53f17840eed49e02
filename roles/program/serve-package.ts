import { lstat, readFile } from 'node:fs/promises'
import { StatusError } from '@skerry/api'
import type { ApiAnswer, AuthorizedRequest } from '@skerry/apiserver'
import { ExpectedError } from '@skerry/base'
import type { BlobRef } from '@skerry/offline-package'
import { places } from '@skerry/provisioning'
import { codeOf } from '../runtime/data-directory.ts'
import { installScript } from './install-script.ts'
import { librariesOf } from './line-libraries.ts'
import { askedPart, offeredPath, type PackagePart } from './package-paths.ts'
import { packageRecord } from './package-record.ts'
import type { PackageShelf, ShelvedPackage } from './package-shelf.ts'
import type { OwnPackages, ProgramOptions } from './program-for-machines.ts'
import { fileAnswer, packedProgram, scriptAnswer, type ProgramServing } from './serve-program.ts'

export interface PackageServing extends ProgramServing {
  readonly shelf: PackageShelf
  readonly ownPackages: OwnPackages | undefined
  readonly role: ProgramOptions['role']
}

/** Answers with a part of an offline package. The route imports it when the first machine asks. */
export async function servePackage(
  admitted: AuthorizedRequest,
  serving: PackageServing,
): Promise<ApiAnswer> {
  const { request, info } = admitted
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new StatusError('MethodNotAllowed', 'Cannot write a package: use GET')
  }
  if (info.path === offeredPath) return jsonAnswer(await offered(serving.ownPackages))
  const asked = askedPart(info.path)
  if (asked === undefined) throw new StatusError('NotFound', 'Cannot find this part of a package')
  const found = await serving.shelf.find(asked.digest)
  if (found === undefined) {
    const text = `the ${serving.role} has no package ${asked.digest}: start it with --package <directory>, or put the package into that directory`
    throw new StatusError('NotFound', text)
  }
  if ('sha256' in asked.part) {
    const file = await servedFile(found, asked.part, serving.role)
    return fileAnswer(file, admitted, serving.downloads)
  }
  return asked.part.type === 'script'
    ? scriptAnswer(await packageScript(found, serving))
    : signedAnswer(found, asked.part.type)
}

/** Resolves with the package of which this machine was made, and its operator's key. */
async function offered(own: OwnPackages | undefined): Promise<object> {
  if (own === undefined) return {}
  const record = await packageRecord(own.directory).read()
  if (record === undefined) return {}
  const publicKey = await readFile(own.keyFile ?? places.packageKey, 'utf8').catch(
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    },
  )
  return publicKey === undefined ? {} : { package: { digest: record.digest, publicKey } }
}

/** The script is made of what the manifest says alone, so that all masters of a site serve the same one. */
async function packageScript(
  { digest, manifest }: ShelvedPackage,
  serving: PackageServing,
): Promise<Uint8Array> {
  const { programs } = await packedProgram(serving)
  return Buffer.from(installScript(programs, { digest, systems: librariesOf(manifest) }))
}

async function signedAnswer(
  { digest, places: shelved }: ShelvedPackage,
  type: 'manifest' | 'signature',
): Promise<ApiAnswer> {
  const { packageDigest, readSigned } = await import('@skerry/offline-package')
  try {
    const signed = await readSigned(shelved)
    if (packageDigest(signed.manifest) === digest) {
      return { status: 200, headers: plainHeaders, body: signed[type] }
    }
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error
  }
  throw new StatusError('NotFound', `Cannot find package ${digest}: somebody has changed it`)
}

/**
 * Resolves with a file that the manifest names. A package comes from outside, so a link in the place of a file would
 * lead to secrets of this machine.
 */
async function servedFile(
  { digest, places: shelved, manifest, files }: ShelvedPackage,
  { type, sha256 }: Extract<PackagePart, { sha256: string }>,
  role: ProgramOptions['role'],
): Promise<Parameters<typeof fileAnswer>[0]> {
  const isLibrary = librariesOf(manifest).some(({ libraries }) =>
    libraries.some(({ file }) => file.sha256 === sha256),
  )
  const named = type === 'library' && !isLibrary ? undefined : files.get(sha256)
  const { blobPath } = await import('@skerry/offline-package')
  const path = named && blobPath(shelved, named)
  if (named && path !== undefined && (await isThere(path, named))) {
    return { path, ...named, type: 'application/octet-stream' }
  }
  const text =
    named === undefined
      ? `package ${digest} names no such file`
      : `the ${role} has not kept this file of package ${digest}, since it did not need it itself: start it with --package and the directory of the whole package`
  throw new StatusError('NotFound', text)
}

async function isThere(path: string, { bytes }: BlobRef): Promise<boolean> {
  try {
    const found = await lstat(path)
    return found.isFile() && found.size === bytes
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

const plainHeaders = Object.freeze({
  'content-type': 'application/octet-stream',
  'x-content-type-options': 'nosniff',
})

function jsonAnswer(value: object): ApiAnswer {
  const headers = { ...plainHeaders, 'content-type': 'application/json' }
  return { status: 200, headers, body: Buffer.from(`${JSON.stringify(value)}\n`) }
}
