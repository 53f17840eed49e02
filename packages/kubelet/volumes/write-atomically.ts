import {
  chmod,
  chown,
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { hasCode } from '../system-error.ts'

export interface ProjectedFile {
  /** A relative path without `..`. */
  path: string
  content: Uint8Array
  /** The permission bits. */
  mode: number
  /** The owner. If omitted, root. */
  uid?: number
}

const dataLink = '..data'
const nextDataLink = '..data_tmp'

/**
 * Makes the directory hold exactly these files. A reader in a running container sees all old or
 * all new ones: the files lie in a dated directory behind one symbolic link, which is swapped.
 * Resolves with whether anything had to change.
 */
export async function writeAtomically(
  directory: string,
  wanted: readonly ProjectedFile[],
  options: { gid?: number; nowMs: number },
): Promise<boolean> {
  for (const { path } of wanted) checkPath(path)
  // A group may read what it owns.
  const files = wanted.map((file) =>
    options.gid === undefined ? file : { ...file, mode: file.mode | 0o440 },
  )
  await mkdir(directory, { recursive: true })
  const old = await readDataLink(directory)
  if (old !== undefined && (await holds(join(directory, old), files))) return false
  const next = `..${new Date(options.nowMs).toISOString().replaceAll(/[:.]/g, '_')}`
  const target = join(directory, next)
  await rm(target, { recursive: true, force: true })
  await writeAll(target, files, options.gid)
  await rm(join(directory, nextDataLink), { force: true })
  await symlink(next, join(directory, nextDataLink))
  await rename(join(directory, nextDataLink), join(directory, dataLink))
  await linkNames(directory, files)
  if (old !== undefined) await rm(join(directory, old), { recursive: true, force: true })
  return true
}

function checkPath(path: string): void {
  const parts = path.split('/')
  if (path === '' || path.startsWith('/') || parts.includes('..') || path.startsWith('..')) {
    throw new RangeError(`Cannot write volume: "${path}" leads out of it`)
  }
}

async function readDataLink(directory: string): Promise<string | undefined> {
  try {
    return await readlink(join(directory, dataLink))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

async function holds(directory: string, files: readonly ProjectedFile[]): Promise<boolean> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true })
    if (entries.filter((entry) => entry.isFile()).length !== files.length) return false
    for (const file of files) {
      const path = join(directory, file.path)
      const { mode } = await lstat(path)
      if ((mode & 0o777) !== (file.mode & 0o777)) return false
      if (!(await readFile(path)).equals(file.content)) return false
    }
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

async function writeAll(
  target: string,
  files: readonly ProjectedFile[],
  gid: number | undefined,
): Promise<void> {
  await mkdir(target, { mode: 0o755 })
  await own(target, { gid, isDirectory: true })
  for (const file of files) {
    const path = join(target, normalize(file.path))
    await makeParents(target, dirname(path), gid)
    await writeFile(path, file.content)
    // The mode is not set by writeFile, because the process's umask would remove bits.
    await chmod(path, file.mode)
    await own(path, { gid, uid: file.uid, isDirectory: false })
  }
}

async function makeParents(root: string, path: string, gid: number | undefined): Promise<void> {
  if (path === root) return
  await makeParents(root, dirname(path), gid)
  try {
    await mkdir(path, { mode: 0o755 })
    await own(path, { gid, isDirectory: true })
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}

interface Owner {
  gid: number | undefined
  uid?: number | undefined
  isDirectory: boolean
}

/** Changing the owner clears bits of the mode, so it is set again. */
async function own(path: string, { gid, uid, isDirectory }: Owner): Promise<void> {
  if (gid === undefined && uid === undefined) return
  const { mode } = await lstat(path)
  await chown(path, uid ?? 0, gid ?? 0)
  await chmod(path, (mode & 0o7777) | (isDirectory && gid !== undefined ? 0o2550 : 0))
}

/** Creates one link for each first path element, and removes links of deleted files. */
async function linkNames(directory: string, files: readonly ProjectedFile[]): Promise<void> {
  const wanted = new Set(files.map(({ path }) => normalize(path).split('/')[0] ?? ''))
  for (const name of await readdir(directory)) {
    if (name.startsWith('..')) continue
    if (!wanted.delete(name)) await rm(join(directory, name), { recursive: true, force: true })
  }
  for (const name of wanted) await symlink(join(dataLink, name), join(directory, name))
}
