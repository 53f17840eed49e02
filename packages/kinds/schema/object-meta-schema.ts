import type { SchemaSet } from '@skerry/api'

export const objectMetaName = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

const name = (kind: string): string => `io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`
const text = { type: 'string' } as const
const truth = { type: 'boolean' } as const
const count = { type: 'integer', format: 'int64' } as const

/**
 * The metadata of a custom resource, under the names that built-in kinds use: the only part that is
 * typed like theirs, whatever its own schema contains.
 */
export const objectMetaSchemas: SchemaSet = {
  [objectMetaName]: {
    type: 'object',
    properties: {
      annotations: { type: 'object', additionalProperties: text },
      creationTimestamp: { ref: name('Time') },
      deletionGracePeriodSeconds: count,
      deletionTimestamp: { ref: name('Time') },
      finalizers: { type: 'array', items: text, listType: 'set', patchStrategy: ['merge'] },
      generateName: text,
      generation: count,
      labels: { type: 'object', additionalProperties: text },
      managedFields: {
        type: 'array',
        items: { ref: name('ManagedFieldsEntry') },
        listType: 'atomic',
      },
      name: text,
      namespace: text,
      ownerReferences: {
        type: 'array',
        items: { ref: name('OwnerReference') },
        listType: 'map',
        listMapKeys: ['uid'],
        patchStrategy: ['merge'],
        patchMergeKey: 'uid',
      },
      resourceVersion: text,
      selfLink: text,
      uid: text,
    },
  },
  [name('ManagedFieldsEntry')]: {
    type: 'object',
    properties: {
      apiVersion: text,
      fieldsType: text,
      fieldsV1: { ref: name('FieldsV1') },
      manager: text,
      operation: text,
      subresource: text,
      time: { ref: name('Time') },
    },
  },
  [name('OwnerReference')]: {
    type: 'object',
    required: ['apiVersion', 'kind', 'name', 'uid'],
    mapType: 'atomic',
    properties: {
      apiVersion: { ...text, default: '' },
      blockOwnerDeletion: truth,
      controller: truth,
      kind: { ...text, default: '' },
      name: { ...text, default: '' },
      uid: { ...text, default: '' },
    },
  },
  [name('FieldsV1')]: { type: 'object', preserveUnknownFields: true },
  [name('Time')]: { type: 'string', format: 'date-time' },
}
