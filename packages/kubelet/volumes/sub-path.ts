import { constants } from 'node:fs'
import { mkdir, open, realpath, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../system-error.ts'
import { bindMount, isMountPoint } from './mounts.ts'
import { VolumeError } from './volume.ts'

/**
 * Binds a path inside a volume to a place that only the node can change. Links inside the volume are followed
 * once (a config map's keys are links); then each component is opened below the one before it and may not be
 * a link. Otherwise a container that writes the volume could point it at the host's files between the check
 * and the mount.
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
  const root = await realpath(volumePath)
  await using opened = await openInside(root, await resolveInside(root, parts))
  const isDirectory = (await opened.stat()).isDirectory()
  await makeTarget(target, isDirectory)
  await bindMount(`/proc/${process.pid}/fd/${opened.fd}`, target, signal)
  return target
}

/** Returns the components of the path without its symbolic links. Those that do not exist yet stay as they are. */
async function resolveInside(root: string, parts: readonly string[]): Promise<string[]> {
  for (let known = parts.length; known >= 0; known--) {
    const resolved = await realpathOrUndefined(join(root, ...parts.slice(0, known)))
    if (resolved === undefined) continue
    if (resolved !== root && !resolved.startsWith(`${root}/`)) {
      throw new VolumeError(`subPath "${parts.join('/')}" leads out of the volume`)
    }
    const inside = resolved.slice(root.length + 1)
    return [...inside.split('/').filter((part) => part !== ''), ...parts.slice(known)]
  }
  return [...parts]
}

async function realpathOrUndefined(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
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
