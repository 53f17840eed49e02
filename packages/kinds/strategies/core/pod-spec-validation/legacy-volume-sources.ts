import { fieldInvalid, fieldNotSupported, fieldRequired, type Volume } from '@skerry/api'
import { checkNotEmpty, checkOneOf, checkRange, type Found } from '../../checks.ts'
import type { Loose } from '../../typed-strategy.ts'

/**
 * Drivers that were removed from Kubernetes' tree: the fields that their sources require, at the
 * path where upstream reports them. Fields in a list must not be empty.
 */
export const requiredOfSource: Readonly<Record<string, readonly string[]>> = Object.freeze({
  gitRepo: ['repository'],
  gcePersistentDisk: ['pdName'],
  awsElasticBlockStore: ['volumeID'],
  glusterfs: ['endpoints', 'path'],
  rbd: ['monitors', 'image'],
  cinder: ['volumeID'],
  cephfs: ['monitors'],
  flexVolume: ['driver'],
  azureFile: ['secretName', 'shareName'],
  vsphereVolume: ['volumePath'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  storageos: ['volumeName'],
})

const pathOfSource: Readonly<Record<string, string>> = Object.freeze({
  gcePersistentDisk: 'persistentDisk',
})

export function checkRequiredOfSource(
  name: string,
  source: object,
  path: string,
  found: Found,
): void {
  const field = `${path}.${pathOfSource[name] ?? name}`
  const values = new Map<string, unknown>(Object.entries(source))
  for (const required of requiredOfSource[name] ?? []) {
    const value = values.get(required)
    const isMissing = !value || (Array.isArray(value) && value.length === 0)
    if (isMissing) found.push(fieldRequired(`${field}.${required}`))
  }
  const partition = values.get('partition')
  if (typeof partition === 'number' && (partition < 0 || partition > 255)) {
    const detail = 'must be between 1 and 255, inclusive'
    found.push(fieldInvalid(`${field}.partition`, partition, detail))
  }
}

type Iscsi = NonNullable<Loose<Volume>['iscsi']>

const initiatorPatterns: readonly [string, RegExp][] = [
  ['iqn', /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/],
  ['eui', /^eui.[A-Za-z0-9]{16}$/],
  ['naa', /^naa.[A-Za-z0-9]{32}$/],
]

export function checkIscsi(source: Iscsi, path: string, found: Found): void {
  checkNotEmpty(source.targetPortal, `${path}.targetPortal`, found)
  if (checkNotEmpty(source.iqn, `${path}.iqn`, found)) {
    checkInitiator(source.iqn ?? '', `${path}.iqn`, found)
  }
  checkRange(source.lun ?? 0, { min: 0, max: 255 }, `${path}.lun`, found)
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef) {
    found.push(fieldRequired(`${path}.secretRef`))
  }
  if (source.initiatorName !== undefined) {
    checkInitiator(source.initiatorName, `${path}.initiatorname`, found)
  }
}

function checkInitiator(name: string, field: string, found: Found): void {
  const known = initiatorPatterns.find(([prefix]) => name.startsWith(prefix))
  if (!known) {
    const detail = 'must be valid format starting with iqn, eui, or naa'
    found.push(fieldInvalid(field, name, detail))
  } else if (!known[1].test(name)) {
    found.push(fieldInvalid(field, name, 'must be valid format'))
  }
}

export function checkFibreChannel(
  source: NonNullable<Loose<Volume>['fc']>,
  path: string,
  found: Found,
): void {
  const { targetWWNs = [], wwids = [], lun } = source
  const field = `${path}.targetWWNs`
  if (targetWWNs.length === 0 && wwids.length === 0) {
    found.push(fieldRequired(field, 'must specify either targetWWNs or wwids, but not both'))
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    const detail = 'targetWWNs and wwids can not be specified simultaneously'
    found.push(fieldInvalid(field, targetWWNs, detail))
  }
  if (targetWWNs.length === 0) return
  if (lun === undefined) {
    found.push(fieldRequired(`${path}.lun`, 'lun is required if targetWWNs is specified'))
  } else {
    checkRange(lun, { min: 0, max: 255 }, `${path}.lun`, found)
  }
}

export function checkAzureDisk(
  source: NonNullable<Loose<Volume>['azureDisk']>,
  path: string,
  found: Found,
): void {
  const { diskURI = '', kind } = source
  checkNotEmpty(source.diskName, `${path}.diskName`, found)
  checkNotEmpty(diskURI, `${path}.diskURI`, found)
  const modes = ['None', 'ReadOnly', 'ReadWrite']
  checkOneOf(source.cachingMode, modes, `${path}.cachingMode`, found)
  checkOneOf(kind, ['Dedicated', 'Managed', 'Shared'], `${path}.kind`, found)
  if (kind === undefined) return
  const isManaged = kind === 'Managed'
  if (diskURI.startsWith(isManaged ? '/subscriptions/' : 'https://')) return
  const example = isManaged
    ? '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
    : 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'
  found.push(fieldNotSupported(`${path}.diskURI`, diskURI, [example]))
}
