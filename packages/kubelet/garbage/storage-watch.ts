import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { asError, type Clock, type Logger } from '@skerry/base'
import type { Pod } from '@skerry/api'
import type { ContainerRuntime, ContainerStats } from '../cri/container-runtime.ts'
import type { ResolvedConfig } from '../kubelet-config.ts'
import { storageWatchDefaults } from '../limits-table.ts'
import { podDirectory, podLogDirectory } from '../pod/pod-paths.ts'
import type { PodSet } from '../pods/pod-set.ts'
import { runtimeLabels } from '../pods/runtime-labels.ts'
import { exists } from '../system-error.ts'
import { diskVolumesOf, hasStorageLimits, storageExcess, type StorageUse } from './local-storage.ts'

export interface StorageWatchDeps {
  readonly runtime: ContainerRuntime
  readonly clock: Clock
  readonly log: Logger
  readonly pods: PodSet
}

/** Measures the pods that bound what they take of the disk, one after the other, and ends those that take more. */
export async function watchStorage(
  config: ResolvedConfig,
  deps: StorageWatchDeps,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await deps.clock.sleep(storageWatchDefaults.checkMs, signal)
    try {
      await endExcess(config, deps, signal)
    } catch (error) {
      signal.throwIfAborted()
      deps.log.debug('Disk use of pods not checked', { error: asError(error) })
    }
  }
}

async function endExcess(
  config: ResolvedConfig,
  { runtime, pods, log }: StorageWatchDeps,
  signal: AbortSignal,
): Promise<void> {
  const bounded = pods
    .list()
    .filter((pod) => pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed')
    .filter(hasStorageLimits)
  if (bounded.length === 0) return
  const stats = await runtime.listContainerStats(signal)
  for (const pod of bounded) {
    const message = storageExcess(pod, await measure(pod, stats, config, signal))
    if (message === undefined) continue
    const { uid = '', name, namespace } = pod.metadata
    log.info('Evicting pod', { pod: name, namespace, why: message.trim() })
    pods.evict(uid, { reason: 'Evicted', message }, 0)
  }
}

async function measure(
  pod: Pod,
  stats: readonly ContainerStats[],
  config: ResolvedConfig,
  signal: AbortSignal,
): Promise<StorageUse> {
  const uid = pod.metadata.uid ?? ''
  const volumes = new Map<string, number>()
  for (const name of diskVolumesOf(pod)) {
    const path = join(podDirectory(config, uid), 'volumes', 'kubernetes.io~empty-dir', name)
    volumes.set(name, await bytesBelow(path, signal))
  }
  const containers = new Map<string, number>()
  for (const { labels, writableLayer } of stats) {
    if (labels[runtimeLabels.podUid] !== uid) continue
    const name = labels[runtimeLabels.containerName] ?? ''
    containers.set(name, (containers.get(name) ?? 0) + (writableLayer?.usedBytes ?? 0))
  }
  for (const [name, bytes] of containers) {
    const logs = await bytesBelow(join(podLogDirectory(config, pod), name), signal)
    containers.set(name, bytes + logs)
  }
  return { volumes, containers }
}

/** Asks du, at the lowest priority, because a directory may have millions of files. Resolves with 0 if it is not there. */
async function bytesBelow(path: string, signal: AbortSignal): Promise<number> {
  if (!(await exists(path))) return 0
  const args = ['-n', '19', 'du', '--summarize', '--block-size=1', '--one-file-system', '--', path]
  const options = { signal, timeout: storageWatchDefaults.measureMs }
  return new Promise((resolve, reject) => {
    execFile('nice', args, options, (error, stdout) => {
      const bytes = Number(/^\d+(?=\t)/.exec(stdout)?.[0])
      // Files that go while it counts make it fail, and it has the sum of the others all the same.
      if (Number.isFinite(bytes)) resolve(bytes)
      else reject(error ?? new Error(`du printed no number for ${path}`))
    })
  })
}
