/**
 * The words in which a site's provisioner and its nodes speak of `local-path` volumes: directories
 * on a node's own disk.
 */
export const localPath = Object.freeze({
  provisioner: 'skerry.io/local-path',
  /** On a Node: the directory under which it keeps such volumes. The node writes it itself. */
  directoryAnnotation: 'skerry.io/local-path-directory',
  /** On a volume: the node whose disk it is on; nodes watch their own by it. */
  nodeLabel: 'skerry.io/local-path-node',
  /** status.reason of a released volume once its node has removed the directory. */
  removedReason: 'DirectoryRemoved',
})
