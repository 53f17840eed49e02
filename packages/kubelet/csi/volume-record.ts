import { createHash } from 'node:crypto'
import { readFile, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncDirectory, type Logger } from '@skerry/base'
import type { CSIDriverSpec } from '@skerry/api'
import { hasCode, namesIn } from '../system-error.ts'
import { VolumeError } from '../volumes/volume.ts'
import { writeWholeFile } from '../write-whole-file.ts'

/**
 * The record of a volume that a driver has staged or published, or may have: it is on disk before the driver is
 * asked, and leaves it only after the driver has undone its work. The first names are kubelet's (vol_data.json). It
 * holds no secret.
 */
export interface VolumeRecord {
  readonly driverName: string
  readonly volumeHandle: string
  /** The name of the PersistentVolume, or of the volume in its pod. */
  readonly specVolID: string
  /** The name of the volume in its pod, and the claim, if it has one. */
  readonly volumeName: string
  readonly claim?: { readonly namespace: string; readonly name: string }
  readonly volumeLifecycleMode: 'Persistent' | 'Ephemeral'
  readonly isBlock: boolean
  /** False from before the driver is asked until it has agreed. */
  readonly isDone: boolean
  /** The boot in which the driver was asked: mounts do not outlive it. */
  readonly bootID: string
  /** The path that the driver was given. */
  readonly path: string
  /** True if the driver has to be asked to attach, so that the controller must not detach it meanwhile. */
  readonly isAttachable: boolean
  /** The driver's answer about the attachment, which every later call needs. */
  readonly publishContext: Readonly<Record<string, string>>
  /** The driver's object at the API, for a start without it. */
  readonly driver?: CSIDriverSpec
  /** The pod, if the volume is published for one. */
  readonly podUID?: string
}

const fileName = 'vol_data.json'

/** The paths of one volume on this node, as kubelet has them. */
export interface VolumePlaces {
  /** The directories of the records. */
  readonly stagedRecord: string
  readonly publishedRecord: string
  readonly staging: string
  readonly target: string
}

export interface PlacedVolume {
  readonly driverName: string
  readonly volumeHandle: string
  readonly specName: string
  readonly isBlock: boolean
  readonly podUid: string
}

/** Returns the paths of a volume below the kubelet's data directory. */
export function volumePlaces(dataDirectory: string, volume: PlacedVolume): VolumePlaces {
  const { driverName, volumeHandle, isBlock } = volume
  const specName = pathWord(volume.specName)
  const podUid = pathWord(volume.podUid)
  const plugin = pluginDirectory(dataDirectory)
  if (isBlock) {
    const devices = join(plugin, 'volumeDevices')
    return {
      stagedRecord: join(devices, specName, 'data'),
      publishedRecord: join(dataDirectory, 'pods', podUid, ...blockSteps, specName),
      staging: join(devices, 'staging', specName),
      target: join(devices, 'publish', specName, podUid),
    }
  }
  const hash = createHash('sha256').update(volumeHandle).digest('hex')
  const stagedRecord = join(plugin, pathWord(driverName), hash)
  const publishedRecord = join(dataDirectory, 'pods', podUid, ...filesystemSteps, specName)
  return {
    stagedRecord,
    publishedRecord,
    staging: join(stagedRecord, 'globalmount'),
    target: join(publishedRecord, 'mount'),
  }
}

const filesystemSteps = ['volumes', 'kubernetes.io~csi']
const blockSteps = ['volumeDevices', 'kubernetes.io~csi']

function pluginDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'plugins', 'kubernetes.io', 'csi')
}

/** The API lets none of these names leave its directory; neither does a node that cannot ask it. */
function pathWord(name: string): string {
  if (name !== '' && name !== '.' && name !== '..' && !name.includes('/')) return name
  throw new VolumeError(`"${name}" cannot be the name of a directory`)
}

/** Resolves once the record is on disk. */
export async function writeRecord(directory: string, record: VolumeRecord): Promise<void> {
  await writeWholeFile(join(directory, fileName), JSON.stringify(record))
}

/** Removes the record and its directory, which must be empty otherwise. */
export async function removeRecord(directory: string): Promise<void> {
  await rm(join(directory, `${fileName}.new`), { force: true })
  await rm(join(directory, fileName), { force: true })
  await removeEmpty(directory)
  await syncDirectory(dirname(directory)).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
  })
}

/** Removes an empty directory. One that is missing is as good; one with content is an error: it may be data. */
export async function removeEmpty(directory: string): Promise<void> {
  try {
    await rmdir(directory)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

/** A record and the directory in which it lies. */
export interface FoundRecord {
  readonly directory: string
  readonly record: VolumeRecord
}

/** Returns the records of all volumes that drivers have staged. */
export async function stagedRecords(dataDirectory: string, log: Logger): Promise<FoundRecord[]> {
  const plugin = pluginDirectory(dataDirectory)
  const directories: string[] = []
  for (const driver of await namesIn(plugin)) {
    const isBlocks = driver === 'volumeDevices'
    for (const name of await namesIn(join(plugin, driver))) {
      const directory = join(plugin, driver, name)
      directories.push(isBlocks ? join(directory, 'data') : directory)
    }
  }
  return readRecords(directories, log)
}

/** Returns the records of all volumes that drivers have published for pods. */
export async function publishedRecords(dataDirectory: string, log: Logger): Promise<FoundRecord[]> {
  const pods = join(dataDirectory, 'pods')
  const directories: string[] = []
  for (const uid of await namesIn(pods)) {
    for (const steps of [filesystemSteps, blockSteps]) {
      const parent = join(pods, uid, ...steps)
      for (const name of await namesIn(parent)) directories.push(join(parent, name))
    }
  }
  return readRecords(directories, log)
}

async function readRecords(directories: readonly string[], log: Logger): Promise<FoundRecord[]> {
  const found: FoundRecord[] = []
  for (const directory of directories) {
    const record = await readRecord(directory, log)
    if (record) found.push({ directory, record })
  }
  return found
}

async function readRecord(directory: string, log: Logger): Promise<VolumeRecord | undefined> {
  const path = join(directory, fileName)
  try {
    // writeRecord() wrote the file as a whole; the fields without which nothing can be undone are tested below.
    const record = JSON.parse(await readFile(path, 'utf8')) as VolumeRecord
    const { driverName, volumeHandle, path: given } = record
    if ([driverName, volumeHandle, given].every((each) => typeof each === 'string')) return record
    log.error('Record of a volume is damaged', { path })
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return undefined
    if (!(error instanceof SyntaxError)) throw error
    log.error('Record of a volume is damaged', { path })
  }
  return undefined
}
