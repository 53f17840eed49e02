import {
  checkDnsSubdomain,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  parseQuantity,
  printFieldValue,
  type ConfigMapVolumeSource,
  type HostPathVolumeSource,
  type SecretVolumeSource,
  type Volume,
} from '@skerry/api'
import {
  addInvalid,
  checkLabelField,
  checkNoParentSteps,
  checkNotEmpty,
  checkOneOf,
  checkRequiredOneOf,
  type Found,
} from '../../checks.ts'
import { checkTemplateMetadata } from './template-metadata.ts'
import type { Loose } from '../../typed-strategy.ts'
import { checkClaimSpec } from './claim-spec-validation.ts'
import { checkCsiDriverName } from './csi-driver-name.ts'
import {
  checkAzureDisk,
  checkFibreChannel,
  checkIscsi,
  checkRequiredOfSource,
  requiredOfSource,
} from './legacy-volume-sources.ts'
import type { VolumesByName } from './mounts.ts'
import {
  checkDownwardFile,
  checkFileMode,
  checkKeyToPath,
  checkProjectedVolume,
} from './projected-volume.ts'

/** Returns the volumes in which nothing is wrong, for the mounts to refer to. */
export function checkVolumes(
  volumes: readonly Loose<Volume>[],
  podName: string | undefined,
  field: string,
  found: Found,
): VolumesByName {
  const valid = new Map<string, Loose<Volume>>()
  const created = new Set(
    volumes.flatMap((volume) => (podName && volume.ephemeral ? [`${podName}-${volume.name}`] : [])),
  )
  for (const [at, volume] of volumes.entries()) {
    const path = `${field}[${at}]`
    const { name = '' } = volume
    const own: Found = []
    checkSource(volume, podName, path, own)
    if (checkNotEmpty(name, `${path}.name`, own)) checkLabelField(name, `${path}.name`, own)
    if (valid.has(name)) own.push(fieldDuplicate(`${path}.name`, name))
    if (own.length === 0) valid.set(name, volume)
    found.push(...own)
    const claimName = volume.persistentVolumeClaim?.claimName
    if (claimName !== undefined && created.has(claimName)) {
      const detail = 'must not reference a PVC that gets created for an ephemeral volume'
      found.push(fieldInvalid(`${path}.persistentVolumeClaim.claimName`, claimName, detail))
    }
  }
  return valid
}

/** Upstream checks the sources in this order: the first one found is the volume's type. */
const sourceOrder = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
] as const

function checkSource(
  volume: Loose<Volume>,
  podName: string | undefined,
  path: string,
  found: Found,
): void {
  const named = sourceOrder.filter((name) => volume[name] !== undefined)
  const [name] = named
  if (name === undefined) {
    found.push(fieldRequired(path, 'must specify a volume type'))
    return
  }
  const check = checkOfSource[name]
  const source = volume[name] ?? {}
  if (check) check(volume, `${path}.${name}`, found)
  else if (name in requiredOfSource) checkRequiredOfSource(name, source, path, found)
  for (const extra of named.slice(1)) {
    found.push(fieldForbidden(`${path}.${extra}`, 'may not specify more than 1 volume type'))
  }
  if (name !== 'ephemeral' || !podName || !volume.name) return
  const claimName = `${podName}-${volume.name}`
  for (const text of checkDnsSubdomain(claimName)) {
    const detail = `PVC name ${printFieldValue(claimName)}: ${text}`
    found.push(fieldInvalid(`${path}.name`, volume.name, detail))
  }
}

type SourceCheck = (volume: Loose<Volume>, path: string, found: Found) => void

const checkOfSource: Partial<Record<(typeof sourceOrder)[number], SourceCheck>> = {
  emptyDir: checkEmptyDir,
  hostPath: (volume, path, found) => checkHostPath(volume.hostPath ?? {}, path, found),
  secret: (volume, path, found) => {
    const { secret = {} } = volume
    checkNotEmpty(secret.secretName, `${path}.secretName`, found)
    checkFiles(secret, path, found)
  },
  configMap: (volume, path, found) => {
    const { configMap = {} } = volume
    checkNotEmpty(configMap.name, `${path}.name`, found)
    checkFiles(configMap, path, found)
  },
  nfs: (volume, path, found) => checkNfs(volume.nfs ?? {}, path, found),
  iscsi: (volume, path, found) => checkIscsi(volume.iscsi ?? {}, path, found),
  persistentVolumeClaim: (volume, path, found) => {
    checkNotEmpty(volume.persistentVolumeClaim?.claimName, `${path}.claimName`, found)
  },
  downwardAPI: (volume, path, found) => {
    checkFileMode(volume.downwardAPI?.defaultMode, `${path}.defaultMode`, found)
    for (const file of volume.downwardAPI?.items ?? []) checkDownwardFile(file, path, found)
  },
  fc: (volume, path, found) => checkFibreChannel(volume.fc ?? {}, path, found),
  azureDisk: (volume, path, found) => checkAzureDisk(volume.azureDisk ?? {}, path, found),
  projected: (volume, path, found) => checkProjectedVolume(volume.projected ?? {}, path, found),
  csi: checkCsi,
  ephemeral: checkEphemeral,
  image: (volume, path, found) => {
    const policies = ['Always', 'IfNotPresent', 'Never']
    checkRequiredOneOf(volume.image?.pullPolicy, policies, `${path}.pullPolicy`, found)
  },
}

function checkEmptyDir(volume: Loose<Volume>, path: string, found: Found): void {
  const limit = volume.emptyDir?.sizeLimit
  if (limit === undefined || parseQuantity(limit).nanos >= 0n) return
  const detail = 'SizeLimit field must be a valid resource quantity'
  found.push(fieldForbidden(`${path}.sizeLimit`, detail))
}

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

export function checkHostPath(
  source: Loose<HostPathVolumeSource>,
  path: string,
  found: Found,
): void {
  if (!checkNotEmpty(source.path, `${path}.path`, found)) return
  checkNoParentSteps(source.path ?? '', `${path}.path`, found)
  checkOneOf(source.type, hostPathTypes, `${path}.type`, found)
}

export function checkNfs(
  source: { server?: string; path?: string },
  path: string,
  found: Found,
): void {
  checkNotEmpty(source.server, `${path}.server`, found)
  checkNotEmpty(source.path, `${path}.path`, found)
  if (!source.path?.startsWith('/')) {
    found.push(fieldInvalid(`${path}.path`, source.path ?? '', 'must be an absolute path'))
  }
}

function checkFiles(
  source: Pick<Loose<SecretVolumeSource & ConfigMapVolumeSource>, 'defaultMode' | 'items'>,
  path: string,
  found: Found,
): void {
  checkFileMode(source.defaultMode, `${path}.defaultMode`, found)
  for (const [at, item] of (source.items ?? []).entries()) {
    checkKeyToPath(item, `${path}.items[${at}]`, found)
  }
}

function checkCsi(volume: Loose<Volume>, path: string, found: Found): void {
  checkCsiDriverName(volume.csi?.driver ?? '', `${path}.driver`, found)
  const reference = volume.csi?.nodePublishSecretRef
  if (!reference) return
  if (!reference.name) found.push(fieldRequired(`${path}.nodePublishSecretRef.name`))
  else addInvalid(found, `${path}.name`, reference.name, checkDnsSubdomain(reference.name))
}

function checkEphemeral(volume: Loose<Volume>, path: string, found: Found): void {
  const template = volume.ephemeral?.volumeClaimTemplate
  const field = `${path}.volumeClaimTemplate`
  if (!template) {
    found.push(fieldRequired(field))
    return
  }
  checkTemplateMetadata(template.metadata ?? {}, `${field}.metadata`, found)
  checkClaimSpec(template.spec ?? {}, `${field}.spec`, found)
}
