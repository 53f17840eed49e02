import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pod } from '@skerry/api'

/** Where things of pods live on this node; the layout is kubelet's, which log shippers know. */
export interface NodeDirectories {
  /** On a disk. */
  dataDirectory: string
  /** On a tmpfs: what must not outlive a boot or reach a disk. */
  runDirectory: string
  /** Container logs; /var/log/pods unless the node says otherwise. */
  logDirectory: string
}

export function podDirectory(nodes: NodeDirectories, uid: string): string {
  return join(nodes.dataDirectory, 'pods', uid)
}

/** Volumes with secrets in them. */
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

/** Relative to the pod's log directory. */
export function containerLogPath(container: string, restartCount: number): string {
  return join(container, `${restartCount}.log`)
}
