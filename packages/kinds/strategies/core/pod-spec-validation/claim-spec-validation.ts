import {
  checkDnsSubdomain,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  formatQuantity,
  parseQuantity,
  type PersistentVolumeClaimSpec,
  type TypedObjectReference,
} from '@skerry/api'
import { addInvalid, checkLabelField, checkNotEmpty, checkOneOf, type Found } from '../../checks.ts'
import { checkLabelSelector } from '../../label-checks.ts'
import type { Loose } from '../../typed-strategy.ts'

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']

export function checkAccessModes(modes: readonly string[], field: string, found: Found): void {
  for (const mode of modes) {
    if (!accessModes.includes(mode)) found.push(fieldNotSupported(field, mode, accessModes))
  }
  const known = modes.filter((mode) => accessModes.includes(mode))
  if (known.includes('ReadWriteOncePod') && known.some((mode) => mode !== 'ReadWriteOncePod')) {
    found.push(fieldForbidden(field, 'may not use ReadWriteOncePod with other access modes'))
  }
}

export function checkVolumeMode(mode: string | undefined, field: string, found: Found): void {
  checkOneOf(mode, ['Block', 'Filesystem'], field, found)
}

export function checkPositiveAmount(amount: string, field: string, found: Found): void {
  const quantity = parseQuantity(amount)
  if (quantity.nanos > 0n) return
  found.push(fieldInvalid(field, formatQuantity(quantity), 'must be greater than zero'))
}

export function checkClaimSpec(
  spec: Loose<PersistentVolumeClaimSpec>,
  path: string,
  found: Found,
): void {
  const modes = spec.accessModes ?? []
  if (modes.length === 0) {
    found.push(fieldRequired(`${path}.accessModes`, 'at least 1 access mode is required'))
  }
  checkLabelSelector(spec.selector, `${path}.selector`, found)
  checkAccessModes(modes, `${path}.accessModes`, found)
  const storage = spec.resources?.requests?.['storage']
  const storageField = `${path}.resources[storage]`
  if (storage === undefined) found.push(fieldRequired(storageField))
  else checkPositiveAmount(storage, storageField, found)
  checkClassName(spec.storageClassName, `${path}.storageClassName`, found)
  checkVolumeMode(spec.volumeMode, `${path}.volumeMode`, found)
  checkDataSources(spec, path, found)
  checkClassName(spec.volumeAttributesClassName, `${path}.volumeAttributesClassName`, found)
}

function checkClassName(name: string | undefined, field: string, found: Found): void {
  if (name) addInvalid(found, field, name, checkDnsSubdomain(name))
}

function checkDataSources(
  spec: Loose<PersistentVolumeClaimSpec>,
  path: string,
  found: Found,
): void {
  const { dataSource, dataSourceRef } = spec
  if (dataSource) checkDataSource(dataSource, `${path}.dataSource`, found)
  if (dataSourceRef) checkDataSource(dataSourceRef, `${path}.dataSourceRef`, found)
  if (dataSourceRef?.namespace) {
    if (dataSource) {
      const detail = 'may not be specified when dataSourceRef.namespace is specified'
      found.push(fieldInvalid(path, {}, detail))
    }
  } else if (dataSource && dataSourceRef) {
    const keys = ['apiGroup', 'kind', 'name'] as const
    const isEqual = keys.every((key) => dataSource[key] === dataSourceRef[key])
    if (!isEqual) found.push(fieldInvalid(path, {}, 'must match dataSourceRef'))
  }
}

function checkDataSource(source: Loose<TypedObjectReference>, path: string, found: Found): void {
  const { kind = '', namespace } = source
  const apiGroup = source.apiGroup ?? ''
  checkNotEmpty(source.name, `${path}.name`, found)
  checkNotEmpty(kind, `${path}.kind`, found)
  if (!apiGroup && kind !== 'PersistentVolumeClaim') {
    const detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
    found.push(fieldInvalid(path, kind, detail))
  }
  if (apiGroup) addInvalid(found, `${path}.apiGroup`, apiGroup, checkDnsSubdomain(apiGroup))
  if (namespace) checkLabelField(namespace, `${path}.namespace`, found)
}
