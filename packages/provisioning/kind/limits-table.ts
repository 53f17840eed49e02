/** The bounds of an EdgeCluster. */
export const edgeClusterBounds = Object.freeze({
  /** Names become parts of others, as those of Clusters do. */
  nameCharsMax: 48,
  attemptsMax: 1_000,
  /** The machines of one cluster, and those that one text may stand for. */
  machinesMax: 1_000,
  /** All addresses of a cluster together: each stands in the status once for each step. */
  addressCharsMax: 32_000,
  /** The spec as JSON. With the status it must stay below etcd's limit of 1.5 MB for an object. */
  specBytesMax: 128 * 1024,
})
