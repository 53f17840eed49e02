import type { DigestedFile } from './shell.ts'

/** A machine as it describes itself: anything, if it is hostile. */
export interface MachineSystem {
  /** The name that `uname -m` prints. */
  readonly architecture: string
  /** ID and VERSION_ID of /etc/os-release, such as debian-12. */
  readonly release: string
}

/** The parts of a signed offline package that one machine needs. Every file is named by its digest. */
export interface MachinePackage {
  readonly manifest: Uint8Array
  readonly signature: Uint8Array
  readonly program: PackagedFiles
  readonly debs: readonly PackagedDeb[]
  readonly images: readonly DigestedFile[]
  /** The etcd of masters and witnesses; omitted if the package has none. */
  readonly etcd?: readonly PackagedDeb[]
}

/** The program, made of files of the package. */
export interface PackagedFiles {
  /** The version, with which the directory is named. */
  readonly version: string
  readonly files: readonly { readonly file: DigestedFile; readonly to: string }[]
  /** A tar file with further files, unpacked there. */
  readonly archive?: DigestedFile
  /** The text of the launcher, /usr/local/bin/skerry, for this directory. */
  readonly launcher: (directory: string) => string
}

export interface PackagedDeb {
  readonly name: string
  readonly version: string
  readonly file: DigestedFile
}
