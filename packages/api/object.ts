export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  time?: string
  fieldsType?: string
  fieldsV1?: Record<string, unknown>
  subresource?: string
}

export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  selfLink?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string | null
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
}

/** The fields that every decoded object has at least. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

/** An object whose other fields the compiler does not know. */
export interface AnyObject extends KubeObject {
  [field: string]: unknown
}

export interface ListMeta {
  resourceVersion?: string
  continue?: string
  remainingItemCount?: number
}

export interface KubeList<T> {
  apiVersion: string
  kind: string
  metadata: ListMeta
  items: T[]
}

export interface GroupResource {
  /** The group; empty for the core group. */
  group: string
  /** Plural, lower case. */
  resource: string
}

export interface GroupVersionResource extends GroupResource {
  version: string
}

export interface GroupVersionKind {
  group: string
  version: string
  kind: string
}
