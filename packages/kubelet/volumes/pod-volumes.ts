import { join } from 'node:path'
import { asError } from '@skerry/base'
import type { Pod, Volume } from '@skerry/api'
import { podDirectory, podSecretDirectory, type NodeDirectories } from '../pod/pod-paths.ts'
import { specOf } from '../pod/pod-spec.ts'
import { removeTree, unmountTree } from './mounts.ts'
import { setUpVolume } from './volume-table.ts'
import { VolumeError, type CsiVolumes, type MountedVolume, type VolumeContext } from './volume.ts'

export interface PodVolumes {
  readonly byName: ReadonlyMap<string, MountedVolume>
  /** Set up again by then. */
  readonly refreshAtMs: number | undefined
}

/**
 * Sets up every volume that a container mounts, or brings it up to date. The first failure is
 * thrown as a VolumeError with kubelet's text; what was set up before it stays.
 */
export async function setUpVolumes(
  context: VolumeContext,
  signal: AbortSignal,
): Promise<PodVolumes> {
  const byName = new Map<string, MountedVolume>()
  for (const volume of specOf(context.pod).volumes ?? []) {
    byName.set(volume.name, await setUpOne(volume, context, signal))
  }
  const refreshes = [...byName.values()].flatMap(({ refreshAtMs }) => refreshAtMs ?? [])
  return { byName, refreshAtMs: refreshes.length > 0 ? Math.min(...refreshes) : undefined }
}

async function setUpOne(
  volume: Volume,
  context: VolumeContext,
  signal: AbortSignal,
): Promise<MountedVolume> {
  try {
    return await setUpVolume(volume, context, signal)
  } catch (cause) {
    signal.throwIfAborted()
    const message = `MountVolume.SetUp failed for volume "${volume.name}" : ${asError(cause).message}`
    throw new VolumeError(message, { cause })
  }
}

export interface VolumePlace {
  readonly directories: NodeDirectories
  readonly csi: CsiVolumes
}

/** Tears down volumes once no container runs: the data of emptyDir volumes stays until the pod is removed. */
export async function tearDownVolumes(
  place: VolumePlace,
  pod: Pod,
  signal: AbortSignal,
): Promise<void> {
  const uid = pod.metadata.uid ?? ''
  const { directories } = place
  await takeBack(place, uid, signal)
  await unmountTree(podDirectory(directories, uid), signal)
  await removeTree(podSecretDirectory(directories, uid), signal)
  await removeTree(join(podDirectory(directories, uid), 'volumes'), signal)
}

/** Removes everything that is left of a deleted pod, for example after a crash. */
export async function removePodDirectories(
  place: VolumePlace,
  uid: string,
  signal: AbortSignal,
): Promise<void> {
  const { directories } = place
  await takeBack(place, uid, signal)
  await removeTree(podSecretDirectory(directories, uid), signal)
  await removeTree(podDirectory(directories, uid), signal)
}

/** Comes first: a driver unmounts its volumes itself, and mounts of paths inside them would hold them. */
async function takeBack(
  { directories, csi }: VolumePlace,
  uid: string,
  signal: AbortSignal,
): Promise<void> {
  await unmountTree(join(podDirectory(directories, uid), 'volume-subpaths'), signal)
  await csi.tearDown(uid, signal)
}
