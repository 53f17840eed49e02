import type { PackageManifest, PackagedRelease } from '@skerry/offline-package'

/** The libraries without which the program does not start, for machines of one system. */
export interface SystemLibraries {
  /** ID and VERSION_ID of /etc/os-release, such as debian-12. */
  readonly release: string
  readonly architecture: string
  readonly libraries: PackagedRelease['debs']
}

/** The libraries of the engine and those that must have exactly their version; everything else of them is in every Debian. */
const names = /^(libatomic1|libstdc\+\+6|libgcc-s1|gcc-\d{1,3}-base)$/

/**
 * Returns the libraries of each system of a package. The script pins them, since nothing on a bare machine could check the
 * signature of the package before the program runs.
 */
export function librariesOf({ releases }: Pick<PackageManifest, 'releases'>): SystemLibraries[] {
  return releases.map(({ name, architecture, debs }) => ({
    release: name,
    architecture,
    libraries: debs.filter((deb) => names.test(deb.name)),
  }))
}
