import { constants } from 'node:fs'
import { mkdir, open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../system-error.ts'
import { bindMount, isMountPoint } from './mounts.ts'
import { VolumeError } from './volume.ts'

/**
 * Binds a path inside a volume to a place that only the node can change. Each component is opened
 * below the one before it and may not be a symbolic link: a container that writes the volume could
 * else point it at the host's files between the check and the mount.
 */
export async function mountSubPath(
  request: { volumePath: string; subPath: string; target: string },
  signal: AbortSignal,
): Promise<string> {
  const { volumePath, subPath, target } = request
  if (await isMountPoint(target)) return target
  const parts = subPath.split('/').filter((part) => part !== '' && part !== '.')
  if (subPath.startsWith('/') || parts.includes('..')) {
    throw new VolumeError(`subPath "${subPath}" must stay inside the volume`)
  }
  await using opened = await openInside(volumePath, parts)
  const isDirectory = (await opened.stat()).isDirectory()
  await makeTarget(target, isDirectory)
  await bindMount(`/proc/${process.pid}/fd/${opened.fd}`, target, signal)
  return target
}

async function openInside(root: string, parts: readonly string[]): Promise<FileHandle> {
  let current = await open(root, constants.O_RDONLY | constants.O_DIRECTORY)
  for (const part of parts) {
    const parent = current
    try {
      current = await openChild(parent, part)
    } finally {
      await parent.close()
    }
  }
  return current
}

/** A component that is missing is made as a directory, with the mode of what it lies in. */
async function openChild(parent: FileHandle, name: string): Promise<FileHandle> {
  const path = `/proc/self/fd/${parent.fd}/${name}`
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  try {
    return await open(path, flags)
  } catch (error) {
    if (hasCode(error, 'ELOOP')) {
      throw new VolumeError(`subPath component "${name}" is a symbolic link`)
    }
    if (!hasCode(error, 'ENOENT')) throw error
  }
  const { mode, uid, gid } = await parent.stat()
  await mkdir(path)
  const made = await open(path, flags)
  await made.chmod(mode & 0o7777)
  await made.chown(uid, gid)
  return made
}

async function makeTarget(target: string, isDirectory: boolean): Promise<void> {
  await mkdir(isDirectory ? target : join(target, '..'), { recursive: true })
  if (!isDirectory) await (await open(target, 'a')).close()
}
