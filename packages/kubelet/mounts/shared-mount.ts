import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { mountsIn, type MountEntry } from './mount-points.ts'

const execute = promisify(execFile)

/**
 * Makes the mount that holds the path a shared one, so that what a container mounts below it is seen on the node: the
 * runtime refuses such containers otherwise. On a machine with systemd all mounts are shared, and nothing is done.
 */
export async function ensureShared(path: string): Promise<void> {
  const mount = mountOf(path, mountsIn(await readFile('/proc/self/mountinfo', 'utf8')))
  if (!mount || mount.isShared) return
  await execute('mount', ['--make-shared', mount.point])
}

/** Returns the mount that holds the path: of several at one place, the last one covers the others. */
function mountOf(path: string, mounts: readonly MountEntry[]): MountEntry | undefined {
  let found: MountEntry | undefined
  for (const mount of mounts) {
    const isAbove =
      mount.point === '/' || path === mount.point || path.startsWith(`${mount.point}/`)
    if (isAbove && mount.point.length >= (found?.point.length ?? 0)) found = mount
  }
  return found
}
