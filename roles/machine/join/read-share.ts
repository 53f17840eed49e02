import { ExpectedError, exitCodes } from '@skerry/base'
import {
  openSigned,
  packageBounds,
  packageDigest,
  shareOf,
  type MachineKind,
  type MachineShare,
  type OpenedPackage,
} from '@skerry/offline-package'
import type { LinePackage } from '../../program/package-key.ts'
import { packagePath } from '../../program/package-paths.ts'
import { readSmall, type PackageServer } from './fetch-file.ts'

/** The part of an offered package for one machine, and the bytes that are signed. */
export interface OfferedShare {
  readonly share: MachineShare
  readonly signed: OpenedPackage['signed']
}

/**
 * Reads what a server's package has for a machine, which may have all system packages. The digest of the line is compared first, and the operator's signature
 * before any field is read. Rejects with an ExpectedError.
 */
export async function readShare(
  from: PackageServer,
  { digest, publicKey }: LinePackage,
  machine: MachineKind & { readonly hasPackages: boolean },
): Promise<OfferedShare> {
  const read = (type: 'manifest' | 'signature', bytesMax: number): Promise<Buffer> =>
    readSmall(packagePath(digest, { type }), bytesMax, from)
  const manifest = await read('manifest', packageBounds.manifestBytesMax)
  const signature = await read('signature', packageBounds.signatureBytesMax)
  const found = packageDigest(manifest)
  if (found !== digest) {
    const text = `Cannot use package ${digest}: ${from.server} sent another one, ${found}; somebody has changed it there or on its way`
    throw new ExpectedError(text, exitCodes.failure)
  }
  const signed = { manifest, signature }
  const opened = openSigned(signed, publicKey, `${digest} of ${from.server}`)
  return { share: shareOf(opened.manifest, machine, machine), signed }
}
