import {
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  quoteGo,
} from './field-error.ts'
import type { NameRule } from './kind.ts'
import {
  byteLength,
  checkDnsLabel,
  checkLabelValue,
  checkName,
  checkQualifiedName,
} from './names.ts'
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from './object.ts'
import type { StatusCause } from './status-error.ts'
import { objectMetaLimits } from './limits-table.ts'

/** Validates metadata for a create, after a name was generated. Returns no causes if valid. */
export function validateObjectMeta(
  meta: ObjectMeta,
  rule: NameRule,
  isNamespaced: boolean,
): StatusCause[] {
  return [
    ...validateNames(meta, rule),
    ...validateNamespace(meta.namespace ?? '', isNamespaced),
    ...validateMetaForm(meta),
  ]
}

/** Validates everything except the names. Returns no causes if valid. */
export function validateMetaForm(meta: ObjectMeta): StatusCause[] {
  return [
    ...((meta.generation ?? 0) < 0
      ? [fieldInvalid('metadata.generation', meta.generation, 'must be greater than or equal to 0')]
      : []),
    ...validateLabels(meta.labels, 'metadata.labels'),
    ...validateAnnotations(meta.annotations, 'metadata.annotations'),
    ...validateOwnerReferences(meta.ownerReferences ?? []),
    ...validateFinalizers(meta.finalizers ?? []),
    ...validateManagedFields(meta.managedFields ?? []),
  ]
}

/**
 * Validates metadata for an update: what may not change, and what the client may write. Returns no
 * causes if valid.
 */
export function validateObjectMetaUpdate(next: ObjectMeta, old: ObjectMeta): StatusCause[] {
  const found = old.deletionTimestamp === undefined ? [] : validateNoNewFinalizers(next, old)
  if (!next.resourceVersion) {
    found.push(fieldInvalid('metadata.resourceVersion', '', 'must be specified for an update'))
  }
  if ((next.generation ?? 0) < (old.generation ?? 0)) {
    found.push(fieldInvalid('metadata.generation', next.generation ?? 0, 'must not be decremented'))
  }
  return [
    ...found,
    ...immutableFields
      .filter((field) => (next[field] ?? '') !== (old[field] ?? ''))
      .map((field) => fieldInvalid(`metadata.${field}`, next[field] ?? '', 'field is immutable')),
    ...validateLabels(next.labels, 'metadata.labels'),
    ...validateAnnotations(next.annotations, 'metadata.annotations'),
    ...validateOwnerReferences(next.ownerReferences ?? []),
    ...validateManagedFields(next.managedFields ?? []),
  ]
}

const immutableFields = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

export function validateLabels(
  labels: Readonly<Record<string, string>> | undefined,
  field: string,
): StatusCause[] {
  const found: StatusCause[] = []
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const text of checkQualifiedName(key)) found.push(fieldInvalid(field, key, text))
    for (const text of checkLabelValue(value)) found.push(fieldInvalid(field, value, text))
  }
  return found
}

export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  field: string,
): StatusCause[] {
  const found: StatusCause[] = []
  let bytes = 0
  for (const [key, value] of Object.entries(annotations ?? {})) {
    for (const text of checkQualifiedName(key.toLowerCase())) {
      found.push(fieldInvalid(field, key, text))
    }
    bytes += byteLength(key) + byteLength(value)
  }
  if (bytes > objectMetaLimits.annotationsBytesMax) {
    found.push(fieldTooLong(field, objectMetaLimits.annotationsBytesMax))
  }
  return found
}

/** Validates the fieldManager parameter, or the manager of a managedFields entry. */
export function validateManagerName(manager: string, field: string): StatusCause[] {
  const found: StatusCause[] = []
  if (byteLength(manager) > objectMetaLimits.fieldManagerBytesMax) {
    found.push(fieldTooLong(field, objectMetaLimits.fieldManagerBytesMax))
  }
  let position = 0
  for (const char of manager) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char)) {
      const code = `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
      const detail = `invalid character ${code} (at position ${position})`
      found.push(fieldInvalid(field, manager, detail))
    }
    position += byteLength(char)
  }
  return found
}

function validateNames(meta: ObjectMeta, rule: NameRule): StatusCause[] {
  const found: StatusCause[] = []
  if (meta.generateName) {
    for (const text of checkName(meta.generateName, rule, true)) {
      found.push(fieldInvalid('metadata.generateName', meta.generateName, text))
    }
  }
  if (!meta.name) {
    found.push(fieldRequired('metadata.name', 'name or generateName is required'))
    return found
  }
  for (const text of checkName(meta.name, rule)) {
    found.push(fieldInvalid('metadata.name', meta.name, text))
  }
  return found
}

function validateNamespace(namespace: string, isNamespaced: boolean): StatusCause[] {
  const field = 'metadata.namespace'
  if (!isNamespaced) {
    return namespace === '' ? [] : [fieldForbidden(field, 'not allowed on this type')]
  }
  if (namespace === '') return [fieldRequired(field)]
  return checkDnsLabel(namespace).map((text) => fieldInvalid(field, namespace, text))
}

function validateOwnerReferences(references: readonly OwnerReference[]): StatusCause[] {
  const field = 'metadata.ownerReferences'
  const found: StatusCause[] = []
  let controller = ''
  for (const reference of references) {
    found.push(...validateOwnerReference(reference, field))
    if (reference.controller !== true) continue
    const name = `${reference.kind}/${reference.name}`
    if (controller === '') {
      controller = name
      continue
    }
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
    found.push(fieldInvalid(field, references.map(shownOwner), detail))
  }
  return found
}

/** Orders the fields as in upstream's type. */
function shownOwner(reference: OwnerReference): object {
  const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = reference
  return { apiVersion, kind, name, uid, controller, blockOwnerDeletion }
}

function validateOwnerReference(reference: OwnerReference, field: string): StatusCause[] {
  const found: StatusCause[] = []
  const slash = reference.apiVersion?.indexOf('/') ?? -1
  if (!reference.apiVersion || slash === reference.apiVersion.length - 1) {
    const value = reference.apiVersion ?? ''
    found.push(fieldInvalid(`${field}.apiVersion`, value, 'version must not be empty'))
  }
  for (const key of ['kind', 'name', 'uid'] as const) {
    if (!reference[key]) found.push(fieldInvalid(`${field}.${key}`, '', 'must not be empty'))
  }
  if (reference.apiVersion === 'v1' && reference.kind === 'Event') {
    const detail = '/v1, Kind=Event is disallowed from being an owner'
    found.push(fieldInvalid(field, reference, detail))
  }
  return found
}

function validateFinalizers(finalizers: readonly string[]): StatusCause[] {
  const field = 'metadata.finalizers'
  const found = finalizers.flatMap((name) =>
    checkQualifiedName(name).map((text) => fieldInvalid(field, name, text)),
  )
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const detail = 'finalizer orphan and foregroundDeletion cannot be both set'
    found.push(fieldInvalid(field, finalizers, detail))
  }
  return found
}

const standardFinalizers: ReadonlySet<string> = new Set([
  'foregroundDeletion',
  'kubernetes',
  'orphan',
])

/** Checks what most of upstream's own kinds require in addition: a finalizer must name its owner. */
export function validateOwnFinalizers({ finalizers = [] }: ObjectMeta): StatusCause[] {
  const detail = 'name is neither a standard finalizer name nor is it fully qualified'
  return finalizers.flatMap((name, at) =>
    name.includes('/') || standardFinalizers.has(name)
      ? []
      : [fieldInvalid(`metadata.finalizers[${at}]`, name, detail)],
  )
}

function validateNoNewFinalizers(next: ObjectMeta, old: ObjectMeta): StatusCause[] {
  const before = new Set(old.finalizers)
  const added = (next.finalizers ?? []).filter((name) => !before.has(name)).toSorted()
  if (added.length === 0) return []
  const list = `[]string{${added.map(quoteGo).join(', ')}}`
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`
  return [fieldForbidden('metadata.finalizers', detail)]
}

function validateManagedFields(entries: readonly ManagedFieldsEntry[]): StatusCause[] {
  return entries.flatMap((entry, at) => {
    const field = `metadata.managedFields[${at}]`
    const found: StatusCause[] = []
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      const value = entry.operation ?? ''
      found.push(fieldInvalid(`${field}.operation`, value, 'must be `Apply` or `Update`'))
    }
    if (entry.fieldsType && entry.fieldsType !== 'FieldsV1') {
      found.push(fieldInvalid(`${field}.fieldsType`, entry.fieldsType, 'must be `FieldsV1`'))
    }
    found.push(...validateManagerName(entry.manager ?? '', `${field}.manager`))
    if (byteLength(entry.subresource ?? '') > objectMetaLimits.subresourceBytesMax) {
      found.push(fieldTooLong(`${field}.subresource`, objectMetaLimits.subresourceBytesMax))
    }
    return found
  })
}
