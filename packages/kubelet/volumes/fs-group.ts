import { chmod, chown, lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

interface GroupOptions {
  gid: number | undefined
  isRecursive: boolean
  /** Whether to skip the tree if its root already has the group. */
  isSkippedWhenRight?: boolean
}

/** Gives the tree to the group: it may read and write, and new files keep the group. */
export async function setGroup(path: string, options: GroupOptions): Promise<void> {
  const { gid, isRecursive, isSkippedWhenRight } = options
  if (gid === undefined) return
  const root = await stat(path)
  if (isSkippedWhenRight && root.gid === gid && (root.mode & 0o2060) === 0o2060) return
  if (isRecursive && root.isDirectory()) {
    for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
      await setGroupOf(join(entry.parentPath, entry.name), gid)
    }
  }
  await setGroupOf(path, gid)
}

async function setGroupOf(path: string, gid: number): Promise<void> {
  const { mode, uid } = await lstat(path)
  if ((mode & 0o170000) === 0o120000) return
  await chown(path, uid, gid)
  await chmod(path, (mode & 0o7777) | ((mode & 0o170000) === 0o040000 ? 0o2770 : 0o660))
}
