/**
 * offline-package: the files by which machines without a way to any mirror become a cluster. A package is a manifest that
 * names every file by its digest, the operator's signature of it, and the files. It knows no machine and no Kubernetes.
 * Start reading at manifest.ts, then open-package.ts.
 */
export {
  blobsOf,
  blobsOfEtcd,
  blobsOfImage,
  blobsOfProgram,
  isOlder,
  packageDigest,
  shareOf,
  versionOf,
  type Architecture,
  type BlobRef,
  type MachineKind,
  type MachineShare,
  type PackagedEtcd,
  type PackagedImage,
  type PackagedProgram,
  type PackagedRelease,
  type PackageManifest,
} from './manifest.ts'
export {
  blobPath,
  checkBlobs,
  checkWholePackage,
  openPackage,
  openSigned,
  openUnverified,
  placesIn,
  readSigned,
  type OpenedPackage,
  type PackagePlaces,
} from './open-package.ts'
export { createOperatorKey } from './operator-key.ts'
export { PackageWriter } from './write-package.ts'
export { addImageArchive, assembleLayout } from './image-archive.ts'
export { packageBounds } from './limits-table.ts'
