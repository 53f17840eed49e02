import { access, constants, readFile, readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../system-error.ts'

/** The modes hybrid and v1 use the v1 controllers; in mode none, pods run without limits. */
export type CgroupMode = 'v2' | 'v1' | 'none'

export interface Cgroups {
  mode: CgroupMode
  /** The mount points of every hierarchy, where a pod's directory may be left behind. */
  roots: readonly string[]
}

/** Reads the present mounts and assumes nothing, because edge machines differ. */
export async function detectCgroups(mountsFile = '/proc/self/mounts'): Promise<Cgroups> {
  return parseCgroups(await readFile(mountsFile, 'utf8'))
}

/** Parses the mounts. In the hybrid layout the v2 mount has no controllers, so v1 decides. */
function parseCgroups(mounts: string): Cgroups {
  const entries = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .map(([, path = '', type = '']) => ({ path, type }))
  const v1 = entries.filter(({ type }) => type === 'cgroup').map(({ path }) => path)
  const v2 = entries.filter(({ type }) => type === 'cgroup2').map(({ path }) => path)
  const roots = [...v1, ...v2]
  if (v1.length > 0) return { mode: 'v1', roots }
  return { mode: v2.length > 0 ? 'v2' : 'none', roots }
}

export async function areCgroupsWritable(cgroups: Cgroups): Promise<boolean> {
  const [first] = cgroups.roots
  if (first === undefined) return false
  try {
    await access(first, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Removes a pod's cgroup with everything left below it, in every hierarchy: the runtime removes only those of
 * containers. Returns false if a directory still has processes and so stays.
 */
export async function removeCgroup(cgroups: Cgroups, path: string): Promise<boolean> {
  let isGone = true
  for (const root of cgroups.roots) {
    if (!(await removeTree(join(root, path)))) isGone = false
  }
  return isGone
}

/**
 * Kills every process in a cgroup and below. Callers ensure that nothing may run there: its processes belong
 * to containers that the runtime has lost, with its state directory for example.
 */
export async function killCgroup(cgroups: Cgroups, path: string): Promise<void> {
  for (const root of cgroups.roots) await killTree(join(root, path))
}

async function killTree(directory: string): Promise<void> {
  const names = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  })
  for (const name of names) if (name.isDirectory()) await killTree(join(directory, name.name))
  if (names.length === 0) return
  const text = await readFile(join(directory, 'cgroup.procs'), 'utf8').catch((error: unknown) => {
    // The cgroup was removed since it was listed, or is threaded, and its parent lists its processes.
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EOPNOTSUPP')) return ''
    throw error
  })
  for (const pid of text.split('\n').filter(Boolean).map(Number)) {
    // The id 0 stands for a process of another pid namespace, which only the runtime can end.
    if (pid > 0) killIfThere(pid)
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error
  }
}

/** Names of the groups below a path, in whichever hierarchy they are. */
export async function childCgroups(cgroups: Cgroups, path: string): Promise<string[]> {
  const names = new Set<string>()
  for (const root of cgroups.roots) {
    try {
      const entries = await readdir(join(root, path), { withFileTypes: true })
      for (const entry of entries) if (entry.isDirectory()) names.add(entry.name)
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
  return [...names]
}

async function removeTree(directory: string): Promise<boolean> {
  let names
  try {
    names = await readdir(directory, { withFileTypes: true })
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return true
    throw error
  }
  for (const name of names) {
    if (name.isDirectory()) await removeTree(join(directory, name.name))
  }
  try {
    await rmdir(directory)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return true
    if (hasCode(error, 'EBUSY') || hasCode(error, 'ENOTEMPTY')) return false
    throw error
  }
}
