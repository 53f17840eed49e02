import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pod } from '@skerry/api'

/** The directories of pods on this node; the layout is kubelet's, which log shippers know. */
export interface NodeDirectories {
  /** On a disk. */
  dataDirectory: string
  /** A directory on a tmpfs, for data that must not outlive a boot or reach a disk. */
  runDirectory: string
  /** The directory of container logs; /var/log/pods unless configured otherwise. */
  logDirectory: string
}

export function podDirectory(nodes: NodeDirectories, uid: string): string {
  return join(nodes.dataDirectory, 'pods', uid)
}

/** Returns the directory of volumes with Secrets. */
export function podSecretDirectory(nodes: NodeDirectories, uid: string): string {
  return join(nodes.runDirectory, 'pods', uid)
}

export function podLogDirectory(nodes: NodeDirectories, pod: Pod): string {
  const { namespace = '', name = '', uid = '' } = pod.metadata
  return join(nodes.logDirectory, `${namespace}_${name}_${uid}`)
}

/** The uids of the pods that have something on disk, running or left over from a crash. */
export async function podDirectoriesOf(nodes: NodeDirectories): Promise<string[]> {
  return readdir(join(nodes.dataDirectory, 'pods'))
}

/** Returns a path relative to the pod's log directory. */
export function containerLogPath(container: string, restartCount: number): string {
  return join(container, `${restartCount}.log`)
}
