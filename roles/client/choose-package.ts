import { readFile } from 'node:fs/promises'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import { checkPackage } from '../program/line-package.ts'
import { packageWords, type LinePackage } from '../program/package-key.ts'

/** The words by which a line for a bare machine names an offline package. */
export interface LinePackageFlags {
  machine: boolean | undefined
  /** sha256:<hex>; false for none. If omitted, the one that the server has chosen, if any. */
  package: string | false | undefined
  /** The path of the operator's public key. */
  packageKey: string | undefined
}

/**
 * Resolves with the offline package for a line, which the server has, signed by the key; undefined for a machine that uses
 * its own mirrors. Rejects with an ExpectedError.
 */
export async function choosePackage(
  flags: LinePackageFlags,
  cluster: ClusterClient,
  byDefault: () => Promise<LinePackage | undefined>,
  signal: AbortSignal,
): Promise<LinePackage | undefined> {
  const given = await givenPackage(flags)
  if (flags.package === false || flags.machine !== true) return undefined
  const chosen = given ?? (await byDefault())
  if (chosen === undefined) return undefined
  // Throws if it is not a public key.
  packageWords(chosen)
  try {
    await checkPackage(cluster, chosen, signal)
  } catch (error) {
    if (given !== undefined || !(error instanceof ExpectedError)) throw error
    const text = `${error.message}; or give --no-package for a machine that has mirrors`
    throw new ExpectedError(text, error.exitCode, { cause: error })
  }
  return chosen
}

/** Throws an ExpectedError if a package is named for something else than a line. */
export function refusePackageAlone({ machine, package: digest }: LinePackageFlags): void {
  if (typeof digest === 'string' && machine !== true) throw wrong('--package belongs to --machine')
}

async function givenPackage(flags: LinePackageFlags): Promise<LinePackage | undefined> {
  refusePackageAlone(flags)
  const { package: digest, packageKey: path } = flags
  const isGiven = digest !== undefined && digest !== false
  if (isGiven !== (path !== undefined)) throw wrong('--package and --package-key belong together')
  if (!isGiven || path === undefined) return undefined
  const publicKey = await readFile(path, 'utf8').catch((cause: unknown) => {
    const text = `Cannot read public key ${path}: ${messageOf(cause)}`
    throw new ExpectedError(text, exitCodes.usage, { cause })
  })
  return { digest, publicKey }
}

function wrong(why: string): ExpectedError {
  return new ExpectedError(`Cannot print a line: ${why}`, exitCodes.usage)
}
