import { ExpectedError, exitCodes } from '@skerry/base'
import type { EdgeCluster, EdgeJobSpec } from '@skerry/provisioning'
import { readText } from '../../runtime/read-config-file.ts'

/** The two options by which a command names an offline package of the hub. */
export interface PackageFlags {
  package: string | undefined
  packageKey: string | undefined
}

/** Returns the field for an offline package. Throws an ExpectedError if one of its two options lacks. */
export async function packageOf({
  package: digest,
  packageKey,
}: PackageFlags): Promise<Pick<EdgeCluster['spec'], 'package'>> {
  if (digest === undefined && packageKey === undefined) return {}
  if (digest === undefined || packageKey === undefined) {
    const text = 'Cannot use package: give both --package <digest> and --package-key <path>'
    throw new ExpectedError(text, exitCodes.usage)
  }
  return { package: { digest, publicKey: await readText(packageKey) } }
}

/** Returns the program that --to or --package names. Throws an ExpectedError unless exactly one of them does. */
export async function programOf(
  flags: PackageFlags & { readonly to: string | undefined },
): Promise<Pick<NonNullable<EdgeJobSpec['upgrade']>, 'version' | 'package'>> {
  const offline = await packageOf(flags)
  if ((flags.to === undefined) !== (offline.package === undefined)) {
    return flags.to === undefined ? offline : { version: flags.to }
  }
  const text = 'Cannot choose a program: give --to, or --package with --package-key'
  throw new ExpectedError(text, exitCodes.usage)
}
