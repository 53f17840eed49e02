import { chmod, mkdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { quantityToNumber, type PersistentVolume, type Pod, type Volume } from '@skerry/api'
import { podDirectory, podSecretDirectory } from '../pod/pod-paths.ts'
import { specOf } from '../pod/pod-spec.ts'
import { exists } from '../system-error.ts'
import { setGroup } from './fs-group.ts'
import { checkHostPath } from './host-path.ts'
import { isMountPoint, mountTmpfs } from './mounts.ts'
import {
  configMapFiles,
  downwardFiles,
  projectedFiles,
  secretFiles,
  type Projection,
} from './projected-files.ts'
import { VolumeError, type MountedVolume, type SetUpVolume, type VolumeContext } from './volume.ts'
import { writeAtomically } from './write-atomically.ts'

/** The function that makes each kind of volume, by its field in the spec; other kinds are refused. */
const setUpBySource: Readonly<Record<string, SetUpVolume>> = Object.freeze({
  emptyDir: setUpEmptyDir,
  configMap: (volume, context) =>
    write(volume, context, {
      plugin: 'configmap',
      projection: configMapFiles(volume.configMap ?? {}, context),
    }),
  secret: (volume, context) =>
    write(volume, context, {
      plugin: 'secret',
      projection: secretFiles(volume.secret ?? {}, context),
    }),
  downwardAPI: (volume, context) => {
    const { items = [], defaultMode } = volume.downwardAPI ?? {}
    const projection = downwardFiles(items, context, defaultMode)
    return write(volume, context, { plugin: 'downward-api', projection })
  },
  projected: async (volume, context, signal) => {
    const projection = await projectedFiles(volume.projected ?? {}, context, signal)
    return write(volume, context, { plugin: 'projected', projection })
  },
  hostPath: async (volume) => {
    const { path = '', type = '' } = volume.hostPath ?? {}
    await checkHostPath(path, type)
    return { hostPath: path, isReadOnly: false }
  },
  persistentVolumeClaim: (volume, context, signal) => {
    const { claimName = '', readOnly: isReadOnly = false } = volume.persistentVolumeClaim ?? {}
    return setUpClaim({ volumeName: volume.name, claimName, isReadOnly }, context, signal)
  },
  // The runtime mounts it into each container.
  image: async () => ({ hostPath: '', isReadOnly: true }),
  ephemeral: (volume, context, signal) => {
    const claimName = `${context.pod.metadata.name}-${volume.name}`
    return setUpClaim({ volumeName: volume.name, claimName, isReadOnly: false }, context, signal)
  },
  csi: async (volume, context, signal) => {
    if (!volume.csi) throw new VolumeError('the volume names no CSI driver')
    const request = { pod: context.pod, volumeName: volume.name, isReadOnly: false }
    return context.csi.setUp({ ...request, inline: volume.csi }, context, signal)
  },
})

export const setUpVolume: SetUpVolume = (volume, context, signal) => {
  const source = Object.keys(volume).find((field) => field !== 'name') ?? 'emptyDir'
  const setUp = setUpBySource[source]
  if (!setUp) throw new VolumeError(`no volume plugin matched: ${source} is not supported here`)
  return setUp(volume, context, signal)
}

/** The volumes with Secrets, which are on a tmpfs and disappear with the boot. */
const secretPlugins: readonly string[] = ['secret', 'projected']

function volumeDirectory(context: VolumeContext, plugin: string, name: string): string {
  const uid = context.pod.metadata.uid ?? ''
  const base = secretPlugins.includes(plugin)
    ? podSecretDirectory(context.directories, uid)
    : podDirectory(context.directories, uid)
  return join(base, 'volumes', `kubernetes.io~${plugin}`, name)
}

async function write(
  volume: Volume,
  context: VolumeContext,
  { plugin, projection }: { plugin: string; projection: Projection },
): Promise<MountedVolume> {
  const hostPath = volumeDirectory(context, plugin, volume.name)
  const gid = fsGroupOf(context.pod)
  await writeAtomically(hostPath, projection.files, {
    nowMs: context.nowMs,
    ...(gid === undefined ? {} : { gid }),
  })
  const { refreshAtMs } = projection
  return { hostPath, isReadOnly: true, ...(refreshAtMs === undefined ? {} : { refreshAtMs }) }
}

function fsGroupOf(pod: Pod): number | undefined {
  return specOf(pod).securityContext?.fsGroup
}

async function setUpEmptyDir(
  volume: Volume,
  context: VolumeContext,
  signal: AbortSignal,
): Promise<MountedVolume> {
  const { medium = '', sizeLimit } = volume.emptyDir ?? {}
  const hostPath = volumeDirectory(context, 'empty-dir', volume.name)
  const mounted: MountedVolume = { hostPath, isReadOnly: false }
  const isMemory = medium === 'Memory'
  if (medium !== '' && !isMemory) throw new VolumeError(`unknown storage medium "${medium}"`)
  const isThere = isMemory ? await isMountPoint(hostPath) : await exists(hostPath)
  if (isThere) return mounted
  await mkdir(hostPath, { recursive: true })
  if (isMemory) {
    const sizeBytes = sizeLimit === undefined ? undefined : quantityToNumber(sizeLimit)
    const size = sizeBytes === undefined || sizeBytes === 0 ? {} : { sizeBytes }
    await mountTmpfs(hostPath, { ...size, mode: 0o777 }, signal)
  }
  await chmod(hostPath, 0o777)
  await setGroup(hostPath, { gid: fsGroupOf(context.pod), isRecursive: false })
  return mounted
}

async function setUpClaim(
  {
    volumeName: name,
    claimName,
    isReadOnly,
  }: { volumeName: string; claimName: string; isReadOnly: boolean },
  context: VolumeContext,
  signal: AbortSignal,
): Promise<MountedVolume> {
  const { pod, sources } = context
  const claim = sources.persistentVolumeClaim(pod.metadata.namespace ?? '', claimName)
  if (!claim) throw new VolumeError(`persistentvolumeclaim "${claimName}" not found`)
  const volumeName = claim.spec?.volumeName
  if (!volumeName || claim.status?.phase !== 'Bound') {
    throw new VolumeError(`PVC ${pod.metadata.namespace}/${claimName} is not bound`)
  }
  const volume = sources.persistentVolume(volumeName)
  if (!volume) throw new VolumeError(`persistentvolume "${volumeName}" not found`)
  if (volume.spec?.claimRef?.uid !== claim.metadata.uid) {
    throw new VolumeError(`persistentvolume "${volumeName}" is bound to another claim`)
  }
  if (volume.spec?.csi) {
    const request = { pod, volumeName: name, isReadOnly, volume, claim }
    return context.csi.setUp(request, context, signal)
  }
  const hostPath = await localPathOf(volume)
  if (volume.spec?.volumeMode === 'Block') return localDevice(hostPath, isReadOnly)
  const policy = specOf(pod).securityContext?.fsGroupChangePolicy
  if (!isReadOnly) {
    await setGroup(hostPath, {
      gid: fsGroupOf(pod),
      isRecursive: true,
      isSkippedWhenRight: policy === 'OnRootMismatch',
    })
  }
  return { hostPath, isReadOnly }
}

/** A local volume may be a device, by any link to it. */
async function localDevice(path: string, isReadOnly: boolean): Promise<MountedVolume> {
  const hostPath = await realpath(path)
  if (!(await stat(hostPath)).isBlockDevice()) {
    throw new VolumeError(`path "${path}" is not a block device, as the volume's mode says`)
  }
  return { hostPath, isReadOnly, isBlock: true }
}

async function localPathOf(volume: PersistentVolume): Promise<string> {
  const { hostPath, local } = volume.spec ?? {}
  if (hostPath) {
    await checkHostPath(hostPath.path, hostPath.type ?? '')
    if (!hostPath.type) await mkdir(hostPath.path, { recursive: true })
    return hostPath.path
  }
  if (!local) {
    throw new VolumeError(
      `persistentvolume "${volume.metadata.name}" is not of a CSI driver, and neither local nor hostPath, which is all this node mounts`,
    )
  }
  if (!(await exists(local.path))) {
    throw new VolumeError(`path "${local.path}" does not exist`)
  }
  return local.path
}
