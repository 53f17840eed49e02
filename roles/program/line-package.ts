import { isStatusError } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import { readBody, statusErrorOf, type ClusterClient } from '@skerry/client'
import * as z from 'zod'
import { programBounds } from './limits-table.ts'
import { packageDigestPattern, type LinePackage } from './package-key.ts'
import { offeredPath, packagePath } from './package-paths.ts'

const offeredSchema = z.object({
  package: z.object({ digest: z.string().regex(packageDigestPattern), publicKey: z.string() }),
})

/** Resolves with the package of which the machine of a site was made; undefined if it was made of none. */
export async function offeredPackage(
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<LinePackage | undefined> {
  const { status, body } = await ask(cluster, offeredPath, signal)
  const text = await readBody(body, programBounds.linePackage.offeredBytesMax)
  // A site of an earlier version has no such path.
  return status === 200 ? offeredSchema.safeParse(parsed(text)).data?.package : undefined
}

function parsed(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'))
  } catch {
    // The schema refuses it.
    return undefined
  }
}

/**
 * Looks whether a server has the package, signed by the key, before a token is made. The machine looks again, so that a
 * user who may not read the package may make a line as well. Rejects with an ExpectedError.
 */
export async function checkPackage(
  cluster: ClusterClient,
  { digest, publicKey }: LinePackage,
  signal: AbortSignal,
): Promise<void> {
  const { openSigned, packageBounds, packageDigest } = await import('@skerry/offline-package')
  const read = async (type: 'manifest' | 'signature', bytesMax: number): Promise<Buffer> => {
    const answer = await ask(cluster, packagePath(digest, { type }), signal)
    const body = await readBody(answer.body, bytesMax)
    if (answer.status === 200) return body
    throw statusErrorOf(answer, body.toString('utf8'))
  }
  try {
    const manifest = await read('manifest', packageBounds.manifestBytesMax)
    const signature = await read('signature', packageBounds.signatureBytesMax)
    openSigned({ manifest, signature }, publicKey, digest)
    if (packageDigest(manifest) === digest) return
    throw new ExpectedError('it has another one in its place', exitCodes.failure)
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return
    if (!(error instanceof ExpectedError || isStatusError(error, 'NotFound'))) throw error
    const text = `Cannot print a line with package ${digest}: ${error.message}`
    throw new ExpectedError(text, exitCodes.failure, { cause: error })
  }
}

function ask(
  cluster: ClusterClient,
  path: string,
  signal: AbortSignal,
): ReturnType<ClusterClient['raw']> {
  return cluster.raw({ method: 'GET', path, headers: {} }, signal)
}
