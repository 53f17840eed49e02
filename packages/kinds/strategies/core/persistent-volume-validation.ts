import {
  checkDnsSubdomain,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  parseQuantity,
  quantityToNumber,
  type PersistentVolume,
  type PersistentVolumeSpec,
  type SecretReference,
  type StatusCause,
} from '@skerry/api'
import { memberAsSent } from '@skerry/bodies'
import { changedFields } from '../changed-fields.ts'
import { inKeyOrder } from '../key-order.ts'
import {
  addInvalid,
  checkLabelField,
  checkNoParentSteps,
  checkNotEmpty,
  checkOneOf,
  checkSubdomainField,
  checkUnchanged,
  isSame,
  type Found,
} from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import {
  checkAccessModes,
  checkPositiveAmount,
  checkVolumeMode,
} from './pod-spec-validation/claim-spec-validation.ts'
import { checkCsiDriverName } from './pod-spec-validation/csi-driver-name.ts'
import {
  checkAzureDisk,
  checkFibreChannel,
  checkIscsi,
  checkRequiredOfSource,
} from './pod-spec-validation/legacy-volume-sources.ts'
import { checkNodeSelector } from './pod-spec-validation/node-selector.ts'
import { checkHostPath, checkNfs } from './pod-spec-validation/volumes.ts'

type Spec = Loose<PersistentVolumeSpec>

export function validatePersistentVolume(volume: LooseObject<PersistentVolume>): StatusCause[] {
  const found: Found = []
  checkVolumeSpec(volume.spec ?? {}, 'spec', found)
  return found
}

function checkVolumeSpec(spec: Spec, path: string, found: Found): void {
  if ((spec.accessModes ?? []).length === 0) found.push(fieldRequired(`${path}.accessModes`))
  checkAccessModes(spec.accessModes ?? [], `${path}.accessModes`, found)
  checkCapacity(spec, `${path}.capacity`, found)
  const policies = ['Delete', 'Recycle', 'Retain']
  const policyField = `${path}.persistentVolumeReclaimPolicy`
  checkOneOf(spec.persistentVolumeReclaimPolicy, policies, policyField, found)
  const affinity = spec.nodeAffinity
  if (affinity?.required) {
    checkNodeSelector(affinity.required, `${path}.nodeAffinity.required`, found)
  } else if (affinity) {
    const detail = 'must specify required node constraints'
    found.push(fieldRequired(`${path}.nodeAffinity.required`, detail))
  }
  checkVolumeSource(spec, path, found)
  if (spec.hostPath?.path === '/' && spec.persistentVolumeReclaimPolicy === 'Recycle') {
    found.push(fieldForbidden(policyField, "may not be 'recycle' for a hostPath mount of '/'"))
  }
  const { storageClassName } = spec
  if (storageClassName) {
    addInvalid(
      found,
      `${path}.storageClassName`,
      storageClassName,
      checkDnsSubdomain(storageClassName),
    )
  }
  checkVolumeMode(spec.volumeMode, `${path}.volumeMode`, found)
  checkAttributesClass(spec, path, found)
}

function checkCapacity(spec: Spec, field: string, found: Found): void {
  const { capacity = {} } = spec
  const names = Object.keys(capacity)
  if (names.length === 0) found.push(fieldRequired(field))
  if (names.length !== 1 || names[0] !== 'storage') {
    const shown = names.length === 0 ? memberAsSent(spec, 'capacity') : inKeyOrder(capacity)
    found.push(fieldNotSupported(field, shown, ['storage']))
  }
  for (const [name, amount] of Object.entries(capacity)) {
    const quantity = parseQuantity(amount)
    if (quantity.nanos < 0n) {
      const detail = 'must be a valid resource quantity'
      found.push(fieldInvalid(`${field}[${name}]`, quantityToNumber(quantity), detail))
    }
    checkPositiveAmount(amount, `${field}[${name}]`, found)
  }
}

const sourceOrder = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
] as const

function checkVolumeSource(spec: Spec, path: string, found: Found): void {
  const named = sourceOrder.filter((name) => spec[name] !== undefined)
  const [name] = named
  if (name === undefined) {
    found.push(fieldRequired(path, 'must specify a volume type'))
    return
  }
  const check = checkOfSource[name]
  if (check) check(spec, `${path}.${name}`, found)
  else checkRequiredOfSource(name, spec[name] ?? {}, path, found)
  if (name === 'local' && !spec.nodeAffinity) {
    found.push(fieldRequired(`${path}.nodeAffinity`, 'Local volume requires node affinity'))
  }
  for (const extra of named.slice(1)) {
    found.push(fieldForbidden(`${path}.${extra}`, 'may not specify more than 1 volume type'))
  }
}

type SourceCheck = (spec: Spec, path: string, found: Found) => void

const checkOfSource: Partial<Record<(typeof sourceOrder)[number], SourceCheck>> = {
  hostPath: (spec, path, found) => checkHostPath(spec.hostPath ?? {}, path, found),
  nfs: (spec, path, found) => checkNfs(spec.nfs ?? {}, path, found),
  iscsi: (spec, path, found) => {
    const { secretRef: _secretRef, ...rest } = spec.iscsi ?? {}
    checkIscsi(_secretRef ? { ...rest, secretRef: { name: _secretRef.name } } : rest, path, found)
  },
  fc: (spec, path, found) => checkFibreChannel(spec.fc ?? {}, path, found),
  azureDisk: (spec, path, found) => checkAzureDisk(spec.azureDisk ?? {}, path, found),
  local: (spec, path, found) => {
    if (!checkNotEmpty(spec.local?.path, `${path}.path`, found)) return
    checkNoParentSteps(spec.local?.path ?? '', `${path}.path`, found)
  },
  csi: checkCsi,
}

const csiSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const

function checkCsi(spec: Spec, path: string, found: Found): void {
  const { csi = {} } = spec
  checkCsiDriverName(csi.driver ?? '', `${path}.driver`, found)
  checkNotEmpty(csi.volumeHandle, `${path}.volumeHandle`, found)
  for (const name of csiSecrets) {
    const reference = csi[name]
    if (reference) checkSecretReference(reference, `${path}.${name}`, found)
  }
}

function checkSecretReference(reference: Loose<SecretReference>, path: string, found: Found): void {
  const { name = '', namespace = '' } = reference
  if (checkNotEmpty(name, `${path}.name`, found)) checkSubdomainField(name, `${path}.name`, found)
  if (checkNotEmpty(namespace, `${path}.namespace`, found)) {
    checkLabelField(namespace, `${path}.namespace`, found)
  }
}

function checkAttributesClass(spec: Spec, path: string, found: Found): void {
  const name = spec.volumeAttributesClassName
  if (name === undefined) return
  const field = `${path}.volumeAttributesClassName`
  if (name) addInvalid(found, field, name, checkDnsSubdomain(name))
  else found.push(fieldRequired(field, 'an empty string is disallowed'))
  if (spec.csi) return
  const detail = 'has to be specified when using volumeAttributesClassName'
  found.push(fieldRequired(`${path}.csi`, detail))
}

export function validatePersistentVolumeUpdate(
  next: LooseObject<PersistentVolume>,
  old: LooseObject<PersistentVolume>,
): StatusCause[] {
  // Upstream checks twice.
  const found = [...validatePersistentVolume(next), ...validatePersistentVolume(next)]
  const { spec = {} } = next
  const before = old.spec ?? {}
  const [source, sourceBefore] = [sourceOf(spec, before), sourceOf(before, before)]
  if (!isSame(source, sourceBefore)) {
    const detail = 'spec.persistentvolumesource is immutable after creation'
    const changes = changedFields(source, sourceBefore)
    found.push(fieldForbidden('spec.persistentvolumesource', `${detail}\n${changes}`))
  }
  checkUnchanged(spec.volumeMode, before.volumeMode, 'volumeMode', found)
  if (before.nodeAffinity && !isSame(spec.nodeAffinity, before.nodeAffinity)) {
    const value = spec.nodeAffinity ?? null
    found.push(fieldInvalid('nodeAffinity', value, 'field is immutable'))
  }
  if (before.volumeAttributesClassName && spec.volumeAttributesClassName === undefined) {
    const detail = 'update from non-nil value to nil is forbidden'
    found.push(fieldForbidden('spec.volumeAttributesClassName', detail))
  }
  return found
}

/** A secret for expansion may still be added, because drivers learned to expand later than to mount. */
function sourceOf(spec: Spec, old: Spec): object {
  const source = Object.fromEntries(sourceOrder.map((name) => [name, spec[name]]))
  if (!spec.csi || old.csi?.controllerExpandSecretRef) return source
  return { ...source, csi: { ...spec.csi, controllerExpandSecretRef: undefined } }
}
