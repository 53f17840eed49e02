import { access, constants, readFile, readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../system-error.ts'

/** hybrid and v1 are driven through v1 controllers; none: pods run without limits. */
export type CgroupMode = 'v2' | 'v1' | 'none'

export interface Cgroups {
  mode: CgroupMode
  /** Mount points of every hierarchy, where a pod's directory may be left behind. */
  roots: readonly string[]
}

/** Reads what is mounted here and now: never assumes, as edge machines differ. */
export async function detectCgroups(mountsFile = '/proc/self/mounts'): Promise<Cgroups> {
  return parseCgroups(await readFile(mountsFile, 'utf8'))
}

/** A v2 mount beside v1 controllers (hybrid) has no controllers of its own: v1 decides. */
export function parseCgroups(mounts: string): Cgroups {
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
 * Removes a pod's cgroup with what is left below it, in every hierarchy: the runtime removes only
 * containers'. A directory that still has processes stays and is reported as false.
 */
export async function removeCgroup(cgroups: Cgroups, path: string): Promise<boolean> {
  let isGone = true
  for (const root of cgroups.roots) {
    if (!(await removeTree(join(root, path)))) isGone = false
  }
  return isGone
}

/**
 * Kills every process in a cgroup and below. Callers know that nothing may run there: processes in it
 * belong to containers that the runtime has lost, with its state directory for example.
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
    // Removed since it was listed, or a threaded one, whose processes its parent lists.
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EOPNOTSUPP')) return ''
    throw error
  })
  for (const pid of text.split('\n').filter(Boolean).map(Number)) {
    // 0: a process of another pid namespace than ours, which only the runtime can end.
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
