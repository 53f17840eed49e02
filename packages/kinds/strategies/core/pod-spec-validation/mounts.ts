import {
  fieldForbidden,
  fieldInvalid,
  fieldNotFound,
  fieldNotSupported,
  type Container,
  type Volume,
  type VolumeDevice,
  type VolumeMount,
} from '@skerry/api'
import { checkNotEmpty, checkRelativePath, type Found } from '../../checks.ts'
import type { Loose } from '../../typed-strategy.ts'

/** The pod's valid volumes by name. */
export type VolumesByName = ReadonlyMap<string, Loose<Volume>>

export function checkMounts(
  container: Loose<Container>,
  volumes: VolumesByName,
  path: string,
  found: Found,
): void {
  const field = `${path}.volumeMounts`
  const devices = container.volumeDevices ?? []
  const seen = new Set<string>()
  for (const [at, mount] of (container.volumeMounts ?? []).entries()) {
    const item = `${field}[${at}]`
    const { name = '', mountPath = '' } = mount
    checkNotEmpty(name, `${item}.name`, found)
    if (!volumes.has(name)) found.push(fieldNotFound(`${item}.name`, name))
    checkNotEmpty(mountPath, `${item}.mountPath`, found)
    if (seen.has(mountPath)) {
      found.push(fieldInvalid(`${item}.mountPath`, mountPath, 'must be unique'))
    }
    seen.add(mountPath)
    if (devices.some((device) => device.name === name)) {
      found.push(fieldInvalid(`${item}.name`, name, 'must not already exist in volumeDevices'))
    }
    if (devices.some((device) => device.devicePath === mountPath)) {
      const detail = 'must not already exist as a path in volumeDevices'
      found.push(fieldInvalid(`${item}.mountPath`, mountPath, detail))
    }
    checkMountOptions(mount, { container, item, list: field }, found)
  }
}

interface MountPlace {
  container: Loose<Container>
  /** The path of the mount. */
  item: string
  /** The path of the list of mounts, to which upstream attributes some of its errors. */
  list: string
}

function checkMountOptions(mount: Loose<VolumeMount>, place: MountPlace, found: Found): void {
  const { subPath, subPathExpr } = mount
  if (subPath) checkRelativePath(subPath, `${place.list}.subPath`, found)
  if (subPathExpr) {
    if (subPath) {
      const detail = 'subPathExpr and subPath are mutually exclusive'
      found.push(fieldInvalid(`${place.item}.subPathExpr`, subPathExpr, detail))
    }
    checkRelativePath(subPathExpr, `${place.list}.subPathExpr`, found)
  }
  checkPropagation(mount, place, found)
  checkRecursiveReadOnly(mount, `${place.list}.recursiveReadOnly`, found)
}

const propagationModes = ['Bidirectional', 'HostToContainer', 'None']

function checkPropagation(mount: Loose<VolumeMount>, place: MountPlace, found: Found): void {
  const mode = mount.mountPropagation
  if (mode === undefined) return
  const field = `${place.list}.mountPropagation`
  if (!propagationModes.includes(mode)) found.push(fieldNotSupported(field, mode, propagationModes))
  const isPrivileged = place.container.securityContext?.privileged === true
  if (mode !== 'Bidirectional' || isPrivileged) return
  const detail = 'Bidirectional mount propagation is available only to privileged containers'
  found.push(fieldForbidden(field, detail))
}

const recursiveReadOnlyModes = ['Disabled', 'Enabled', 'IfPossible']

function checkRecursiveReadOnly(mount: Loose<VolumeMount>, field: string, found: Found): void {
  const mode = mount.recursiveReadOnly
  if (mode === undefined || mode === 'Disabled') return
  if (!recursiveReadOnlyModes.includes(mode)) {
    found.push(fieldNotSupported(field, mode, recursiveReadOnlyModes))
    return
  }
  if (!mount.readOnly) {
    found.push(fieldForbidden(field, 'may only be specified when readOnly is true'))
  }
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None') {
    const detail = 'may only be specified when mountPropagation is None or not specified'
    found.push(fieldForbidden(field, detail))
  }
}

export function checkDevices(
  container: Loose<Container>,
  volumes: VolumesByName,
  path: string,
  found: Found,
): void {
  const seen = { names: new Set<string>(), paths: new Set<string>() }
  for (const [at, device] of (container.volumeDevices ?? []).entries()) {
    const item = `${path}.volumeDevices[${at}]`
    checkDeviceName(device.name ?? '', { volumes, seen: seen.names, item }, found)
    checkDevicePath(device, seen.paths, item, found)
    const mounts = container.volumeMounts ?? []
    if (mounts.some((mount) => mount.name === device.name)) {
      const detail = 'must not already exist in volumeMounts'
      found.push(fieldInvalid(`${item}.name`, device.name ?? '', detail))
    }
    if (mounts.some((mount) => mount.mountPath === device.devicePath)) {
      const detail = 'must not already exist as a path in volumeMounts'
      found.push(fieldInvalid(`${item}.devicePath`, device.devicePath ?? '', detail))
    }
  }
}

interface DevicePlace {
  volumes: VolumesByName
  seen: Set<string>
  item: string
}

function checkDeviceName(name: string, place: DevicePlace, found: Found): void {
  const field = `${place.item}.name`
  const volume = place.volumes.get(name)
  checkNotEmpty(name, field, found)
  if (place.seen.has(name)) found.push(fieldInvalid(field, name, 'must be unique'))
  if (volume && !volume.persistentVolumeClaim && !volume.ephemeral) {
    const detail =
      'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'
    found.push(fieldInvalid(field, name, detail))
  }
  if (!volume) found.push(fieldNotFound(field, name))
  if (name) place.seen.add(name)
}

function checkDevicePath(
  device: Loose<VolumeDevice>,
  seen: Set<string>,
  item: string,
  found: Found,
): void {
  const { devicePath = '' } = device
  const field = `${item}.devicePath`
  checkNotEmpty(devicePath, field, found)
  if (seen.has(devicePath)) found.push(fieldInvalid(field, devicePath, 'must be unique'))
  if (devicePath.split('/').includes('..')) {
    found.push(fieldInvalid(field, devicePath, "can not contain backsteps ('..')"))
  } else {
    seen.add(devicePath)
  }
}
