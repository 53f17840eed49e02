/** The bounds of the package, by the file that keeps them. */
export const etcdSnapshotBounds = Object.freeze({
  boltWriter: Object.freeze({
    /** The size of pages that wait to be written together. */
    bufferBytes: 1_048_576,
  }),
  boltReader: Object.freeze({
    /** The size of one page with its overflow. etcd's largest request is far smaller. */
    pageRunBytesMax: 268_435_456,
    /** The depth of a tree; one of 2^31 pages is less deep. */
    depthMax: 64,
    /** The number of buckets; etcd has about a dozen. */
    bucketsMax: 1_024,
    /** The pages of a file; its list of visited ones takes a bit for each. */
    pagesMax: 2 ** 31,
  }),
  checksum: Object.freeze({
    chunkBytes: 1_048_576,
  }),
  snapshotReader: Object.freeze({
    /** The number of leases; each is in memory. */
    leasesMax: 1_000_000,
  }),
})
