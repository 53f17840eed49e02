import { chmod, mkdir, rm } from 'node:fs/promises'
import { isAbsolute, join, normalize, sep } from 'node:path'
import { isStatusError, localPath, type PersistentVolume } from '@skerry/api'
import { asError, createBackoff, runAll, type Clock, type Logger, type Random } from '@skerry/base'
import { createInformer, resources, type Change, type ClusterClient } from '@skerry/client'
import { kubeletBounds } from '../limits-table.ts'

export interface LocalPathConfig {
  nodeName: string
  /** Every volume is a directory right below it. */
  directory: string
}

interface LocalPathDeps {
  cluster: ClusterClient
  clock: Clock
  random: Random
  log: Logger
}

const provisionedBy = 'pv.kubernetes.io/provisioned-by'

const { announceRetry } = kubeletBounds.localPathVolumes

/**
 * Runs this node's part of the `local-path` storage class: reports where its volumes are, creates their
 * directories, and removes those of volumes that were released for deletion. It only removes a volume that is
 * marked so itself: a volume that merely vanished from the API keeps its data.
 */
export async function runLocalPathVolumes(
  config: LocalPathConfig,
  deps: LocalPathDeps,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(config.directory, { recursive: true, mode: 0o711 })
  const volumes = createInformer<PersistentVolume>(
    deps.cluster.resource(resources.persistentVolumes),
    { labelSelector: `${localPath.nodeLabel}=${config.nodeName}` },
    deps,
  )
  const queue: PersistentVolume[] = []
  let wake = Promise.withResolvers<void>()
  using _changes = volumes.onChange((change: Change<PersistentVolume>) => {
    if (change.type === 'deleted') return
    queue.push(change.object)
    wake.resolve()
  })
  await runAll(signal, [
    (scope) => volumes.run(scope),
    (scope) => announce(config, deps, scope),
    async (scope) => {
      const onAbort = (): void => wake.resolve()
      scope.addEventListener('abort', onAbort)
      for (;;) {
        await wake.promise
        scope.throwIfAborted()
        wake = Promise.withResolvers<void>()
        for (let volume = queue.shift(); volume !== undefined; volume = queue.shift()) {
          await serveVolume(volume, { config, deps, signal: scope })
        }
      }
    },
  ])
}

/** Retries until the control plane has the annotation: without it nothing is provisioned here. */
async function announce(
  config: LocalPathConfig,
  deps: LocalPathDeps,
  signal: AbortSignal,
): Promise<void> {
  const patch = { metadata: { annotations: { [localPath.directoryAnnotation]: config.directory } } }
  const backoff = createBackoff(announceRetry, deps.random)
  for (;;) {
    try {
      await deps.cluster
        .resource(resources.nodes)
        .patch({ type: 'merge', name: config.nodeName, patch }, signal)
      return
    } catch (error) {
      if (signal.aborted) throw signal.reason
      deps.log.debug('Local volumes not announced yet', {
        error: asError(error),
      })
      await deps.clock.sleep(backoff.nextMs(), signal)
    }
  }
}

interface Scope {
  config: LocalPathConfig
  deps: LocalPathDeps
  signal: AbortSignal
}

async function serveVolume(volume: PersistentVolume, scope: Scope): Promise<void> {
  const path = volumePath(volume, scope.config.directory)
  if (path === undefined) return
  const { deps, signal } = scope
  try {
    if (volume.status?.phase !== 'Released') {
      await mkdir(path, { recursive: true })
      // Any user of a pod may write; access is controlled by who may mount it.
      await chmod(path, 0o777)
    } else if (
      volume.spec?.persistentVolumeReclaimPolicy === 'Delete' &&
      volume.status.reason !== localPath.removedReason
    ) {
      await rm(path, { recursive: true, force: true })
      await reportRemoved(volume, deps, signal)
      deps.log.info('Local volume removed', { volume: volume.metadata.name, path })
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    deps.log.error('Local volume not served', {
      volume: volume.metadata.name,
      error: asError(error),
    })
  }
}

/** The directory, if the volume is ours and its path is one we could have given: never above ours, never ours itself. */
function volumePath(volume: PersistentVolume, directory: string): string | undefined {
  if (volume.metadata.annotations?.[provisionedBy] !== localPath.provisioner) return undefined
  const path = volume.spec?.local?.path
  if (path === undefined || !isAbsolute(path) || normalize(path) !== path) return undefined
  const name = path.slice(directory.length + 1)
  const isDirectlyBelow =
    path === join(directory, name) && name !== '' && !name.includes(sep) && name !== '..'
  return isDirectlyBelow ? path : undefined
}

async function reportRemoved(
  volume: PersistentVolume,
  deps: LocalPathDeps,
  signal: AbortSignal,
): Promise<void> {
  const patch = {
    status: { reason: localPath.removedReason, message: 'the node has removed the directory' },
  }
  try {
    await deps.cluster
      .resource(resources.persistentVolumes)
      .patchStatus({ type: 'merge', name: volume.metadata.name ?? '', patch }, signal)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
}
