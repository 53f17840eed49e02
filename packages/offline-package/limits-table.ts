/** The bounds of an offline package: sizes in bytes, and how many of each thing. They hold while a file is read. */
export const packageBounds = Object.freeze({
  manifestBytesMax: 4 * 1024 * 1024,
  signatureBytesMax: 1024,
  keyBytesMax: 4 * 1024,
  /** One file: the engine has 150 MB, the largest layers some gigabytes. */
  blobBytesMax: 16 * 1024 * 1024 * 1024,
  /** One read of a file. */
  pieceBytes: 1024 * 1024,
  programsMax: 4,
  releasesMax: 16,
  debsOfReleaseMax: 2_000,
  debsOfEtcdMax: 8,
  imagesMax: 256,
  blobsOfImageMax: 512,
  referencesOfImageMax: 64,
  /** The index of an image archive, which is read as a whole. */
  indexBytesMax: 1024 * 1024,
})
