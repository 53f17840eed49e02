import { mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../until.ts'

/** A hierarchy of control groups, as the host has mounted it. */
export interface Hierarchy {
  readonly mountPoint: string
  readonly type: string
  readonly options: string
}

/** The groups of one machine, one in each hierarchy of the host. Disposing of them removes them. */
export interface ControlGroups extends AsyncDisposable {
  readonly hierarchies: readonly Hierarchy[]
  /** The command of a shell that moves the shell into the groups, before the machine boots. */
  readonly join: string
  /** The same for a process that enters a booted machine. */
  readonly enter: string
  /** The commands of a shell that mount the hierarchies below the working directory, as the machine's kernel would. */
  readonly mount: readonly string[]
}

/** Makes a group with this name in each hierarchy of the host: of version 1, of version 2, or of both. */
export async function makeControlGroups(name: string): Promise<ControlGroups> {
  const hierarchies = await readHierarchies()
  const groups = hierarchies.map(({ mountPoint }) => join(mountPoint, name))
  for (const group of groups) await makeGroup(group)
  // In version 2 the first process has moved down, because a group with groups below has no processes.
  const entered = groups.map((group, at) =>
    hierarchies[at]?.type === 'cgroup2' && hierarchies.length === 1
      ? join(group, 'init.scope')
      : group,
  )
  return {
    hierarchies,
    join: joinGroups(groups),
    enter: joinGroups(entered),
    mount: mountCommands(hierarchies),
    async [Symbol.asyncDispose]() {
      for (const group of groups) await removeGroup(group)
    },
  }
}

async function readHierarchies(): Promise<Hierarchy[]> {
  const text = await readFile('/proc/self/mountinfo', 'utf8')
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ')
    const mountPoint = before.split(' ')[4]
    const [type = '', , superOptions = ''] = after.split(' ')
    if (mountPoint === undefined || !/^cgroup2?$/.test(type)) return []
    const kept = superOptions
      .split(',')
      .filter(
        (option) => /^(name=|[a-z_]+$)/.test(option) && !/^(rw|ro|xattr|nsdelegate)$/.test(option),
      )
    const named = kept.some((option) => option.startsWith('name=')) ? ['none', ...kept] : kept
    return [{ mountPoint, type, options: type === 'cgroup2' ? 'rw' : named.join(',') }]
  })
}

function mountCommands(hierarchies: readonly Hierarchy[]): string[] {
  const mounts = hierarchies.flatMap(({ mountPoint, type, options }) => {
    const target = mountPoint.replace(/^\//, '')
    return [`mkdir -p ${target}`, `mount -t ${type} -o ${options} ${type} ${target}`]
  })
  const isHybrid = hierarchies.length > 1
  return [...(isHybrid ? ['mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup'] : []), ...mounts]
}

async function makeGroup(group: string): Promise<void> {
  await mkdir(group)
  // A new cpuset of version 1 allows nothing, so it copies its parent's values.
  for (const name of ['cpuset.cpus', 'cpuset.mems']) {
    // Hierarchies of other controllers have no such file.
    const own = await readFile(join(group, name), 'utf8').catch(() => undefined)
    if (own?.trim() !== '') continue
    await writeFile(join(group, name), await readFile(join(group, '..', name), 'utf8')).catch(
      // Version 2 inherits the values of its parent.
      () => undefined,
    )
  }
}

function joinGroups(groups: readonly string[]): string {
  return groups.map((group) => `echo $$ > ${group}/cgroup.procs`).join('; ')
}

/** Removes groups, deepest first. A group is empty a moment after its last process has ended. */
async function removeGroup(group: string): Promise<void> {
  for (const entry of await readdir(group, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeGroup(join(group, entry.name))
  }
  await until(async () => {
    try {
      await rmdir(group)
      return true
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EBUSY') return false
      throw error
    }
  })
}
