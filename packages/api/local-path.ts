/**
 * The names that a site's provisioner and its nodes use for `local-path` volumes, which are
 * directories on a node's own disk.
 */
export const localPath = Object.freeze({
  provisioner: 'skerry.io/local-path',
  /** On a Node: the directory in which it keeps such volumes. The node writes it itself. */
  directoryAnnotation: 'skerry.io/local-path-directory',
  /** On a volume: the node whose disk it is on, by which nodes watch their own volumes. */
  nodeLabel: 'skerry.io/local-path-node',
  /** status.reason of a released volume once its node has removed the directory. */
  removedReason: 'DirectoryRemoved',
})
