import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectoryDurably, syncDirectory, type Logger } from '@skerry/base'
import type { Node, Pod } from '@skerry/api'
import { ObjectDisk } from './object-disk.ts'

/** Returns the directory in which a kubelet with this data directory keeps what it had from the API. */
export function storeDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'store')
}

/** The knowledge of a kubelet without its control plane. */
export interface StoredNode {
  readonly node: Node | undefined
  readonly pods: readonly Pod[]
}

/** Reads what a stopped kubelet knows. Damaged files are logged and left out, as at its start. */
export async function readStoredNode(dataDirectory: string, log: Logger): Promise<StoredNode> {
  const disk = new ObjectDisk(storeDirectory(dataDirectory), log)
  const nodes = await disk.load<Node>('nodes')
  const pods = await disk.load<Pod>('pods')
  return { node: [...nodes.values()].at(-1), pods: [...pods.values()] }
}

/** Removes the tokens of pods that a stopped kubelet holds, e.g. because another control plane does not know them. */
export async function removeStoredTokens(dataDirectory: string): Promise<void> {
  const directory = storeDirectory(dataDirectory)
  await makeDirectoryDurably(directory)
  await rm(join(directory, 'tokens'), { recursive: true, force: true })
  await syncDirectory(directory)
}
