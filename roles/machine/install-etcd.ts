import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { blobPath, type OpenedPackage, type PackagedEtcd } from '@skerry/offline-package'
import { unpackEtcd } from '../site/etcd/debian-etcd.ts'
import { isAtLeast } from '../site/etcd/etcd-version.ts'
import { exists } from '../runtime/files.ts'

/** The version of etcd in that of its package. */
const versionPattern = /^\d+\.\d+\.\d+/
/** Directories that an installation has left behind. */
const brokenOff = /^\.(?:installing|unpacking)-/

/**
 * Unpacks the etcd of a package, whose files have been checked, into a directory below this one: nothing is installed that
 * the machine's own packages could miss or start. It keeps the one before, which may still run. Resolves with the version.
 */
export async function installEtcd(
  { debs }: PackagedEtcd,
  { places }: OpenedPackage,
  { directory, signal }: { readonly directory: string; readonly signal: AbortSignal },
): Promise<string> {
  const server = debs.find(({ name }) => name === 'etcd-server')?.version ?? ''
  const version = versionPattern.exec(server)?.[0]
  if (version === undefined) {
    const text = 'Cannot use package: its etcd has no etcd-server; make the package again'
    throw new ExpectedError(text, exitCodes.failure)
  }
  await mkdir(directory, { recursive: true, mode: 0o755 })
  if (!(await exists(join(directory, version, 'etcd')))) {
    const paths = debs.map(({ file }) => blobPath(places, file))
    await unpackEtcd({ debs: paths, version, directory }, signal)
  }
  const names = await readdir(directory)
  const others = names.filter((name) => versionPattern.test(name) && name !== version)
  others.sort((a, b) => (isAtLeast(a, b) ? -1 : 1))
  const gone = [...others.slice(1), ...names.filter((name) => brokenOff.test(name))]
  for (const name of gone) await rm(join(directory, name), { recursive: true })
  return version
}
