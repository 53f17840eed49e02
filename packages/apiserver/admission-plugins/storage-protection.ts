import {
  compareQuantities,
  parseQuantity,
  type PersistentVolumeClaim,
  type StorageClass,
} from '@skerry/api'
import type { AdmissionPlugin } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'
import { getTyped, typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { refuse } from '../admission-matching/refusal.ts'

const finalizers: Readonly<Record<string, string>> = Object.freeze({
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  'storage.k8s.io/volumeattributesclasses': 'kubernetes.io/vac-protection',
})

/** Adds the finalizers that protect volumes and claims from deletion while they are in use. */
export function createStorageObjectInUseProtection(): AdmissionPlugin {
  return {
    name: 'StorageObjectInUseProtection',
    handles: ({ resource, subresource, operation }) =>
      subresource === '' &&
      operation === 'CREATE' &&
      finalizers[`${resource.group}/${resource.resource}`] !== undefined,
    async admit({ object, resource }) {
      const finalizer = finalizers[`${resource.group}/${resource.resource}`]
      if (!object || finalizer === undefined) return
      const present = object.metadata.finalizers ?? []
      if (!present.includes(finalizer)) object.metadata.finalizers = [...present, finalizer]
    },
  }
}

/** A claim can grow only if it is bound and its class allows growing. */
export function createClaimResize({ objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'PersistentVolumeClaimResize',
    handles: ({ resource, subresource, operation }) =>
      isResource(resource, wellKnown.persistentVolumeClaims) &&
      subresource === '' &&
      operation === 'UPDATE',
    async validate(request) {
      if (!request.object || !request.oldObject) return
      const next = typed<PersistentVolumeClaim>(request.object)
      const old = typed<PersistentVolumeClaim>(request.oldObject)
      if (compareQuantities(parseQuantity(sizeOf(next)), parseQuantity(sizeOf(old))) <= 0) return
      if (old.status?.phase !== 'Bound') {
        throw refuse(request, 'Only bound persistent volume claims can be expanded')
      }
      if (mayGrow(next, old, objects)) return
      throw refuse(
        request,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      )
    },
  }
}

function sizeOf({ spec }: PersistentVolumeClaim): string {
  return spec?.resources?.requests?.storage ?? '0'
}

function mayGrow(
  next: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  objects: Objects,
): boolean {
  const name = classOf(next)
  if (name === '' || name !== classOf(old)) return false
  const found = getTyped<StorageClass>(objects, wellKnown.storageClasses, { name })
  return found?.allowVolumeExpansion ?? false
}

function classOf({ metadata, spec }: PersistentVolumeClaim): string {
  const annotated = metadata.annotations?.['volume.beta.kubernetes.io/storage-class']
  return annotated ?? spec?.storageClassName ?? ''
}
