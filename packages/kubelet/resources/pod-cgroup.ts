import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Pod } from '@skerry/api'
import type { Cgroups } from '../containerd/cgroups.ts'
import { exists, hasCode } from '../system-error.ts'
import { podResources } from './container-resources.ts'

const cpuPeriodMicros = 100_000

/**
 * Makes the cgroup that all of a pod's containers live in and gives it the pod's share: without
 * it pods would compete as equals whatever they asked for. A hierarchy that refuses a value is
 * left as it is: limits of the containers still hold.
 */
export async function createPodCgroup(cgroups: Cgroups, path: string, pod: Pod): Promise<void> {
  const wanted = podResources(pod)
  if (cgroups.mode === 'v2') {
    const [root] = cgroups.roots
    if (root === undefined) return
    await makeWithControllers(root, path)
    const weight = 1 + Math.floor(((wanted.cpuShares - 2) * 9999) / 262_142)
    const quota = wanted.cpuQuota > 0 ? String(wanted.cpuQuota) : 'max'
    await write(join(root, path, 'cpu.weight'), String(weight))
    await write(join(root, path, 'cpu.max'), `${quota} ${cpuPeriodMicros}`)
    await write(join(root, path, 'memory.max'), wanted.memory > 0 ? String(wanted.memory) : 'max')
    return
  }
  for (const root of cgroups.roots) {
    const directory = join(root, path)
    if (await exists(join(root, 'cpu.shares'))) {
      await mkdir(directory, { recursive: true })
      await write(join(directory, 'cpu.shares'), String(wanted.cpuShares))
      await write(join(directory, 'cpu.cfs_period_us'), String(cpuPeriodMicros))
      await write(join(directory, 'cpu.cfs_quota_us'), String(wanted.cpuQuota || -1))
    } else if (await exists(join(root, 'memory.limit_in_bytes'))) {
      await mkdir(directory, { recursive: true })
      await write(join(directory, 'memory.limit_in_bytes'), String(wanted.memory || -1))
    }
  }
}

/** Creates a group with its controllers; in v2 it has only those that its parent delegates. */
async function makeWithControllers(root: string, path: string): Promise<void> {
  await mkdir(join(root, path), { recursive: true })
  const parents: string[] = []
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    parents.unshift(parent)
    if (parent === '/') break
  }
  for (const parent of parents) {
    const available = await readFile(join(root, parent, 'cgroup.controllers'), 'utf8')
    for (const controller of ['cpu', 'memory', 'pids']) {
      if (!available.split(/\s+/).includes(controller)) continue
      await write(join(root, parent, 'cgroup.subtree_control'), `+${controller}`)
    }
  }
}

const refusals = ['ENOENT', 'EINVAL', 'EBUSY', 'EACCES', 'EPERM']

async function write(file: string, value: string): Promise<void> {
  try {
    await writeFile(file, value)
  } catch (error) {
    if (!refusals.some((code) => hasCode(error, code))) throw error
  }
}
