import { celTypes, listType, mapType, objectType, type CelType, type ObjectType } from '@skerry/cel'

/** The type of `request` in expressions: AdmissionRequest without its objects. */
export const requestType = objectType('kubernetes.AdmissionRequest')
/** The type of `namespaceObject` in expressions, without owners and managers. */
export const namespaceType = objectType('kubernetes.Namespace')

const { bool, dyn, int, string, timestamp } = celTypes
const groupVersionKind = objectType('kubernetes.GroupVersionKind')
const groupVersionResource = objectType('kubernetes.GroupVersionResource')
const strings = listType(string)

export const admissionTypes: Readonly<Record<string, ObjectType>> = Object.freeze({
  'kubernetes.GroupVersionKind': fields({ group: string, version: string, kind: string }),
  'kubernetes.GroupVersionResource': fields({ group: string, version: string, resource: string }),
  'kubernetes.UserInfo': fields({
    username: string,
    uid: string,
    groups: strings,
    extra: mapType(string, strings),
  }),
  'kubernetes.AdmissionRequest': fields({
    kind: groupVersionKind,
    resource: groupVersionResource,
    subResource: string,
    requestKind: groupVersionKind,
    requestResource: groupVersionResource,
    requestSubResource: string,
    name: string,
    namespace: string,
    operation: string,
    userInfo: objectType('kubernetes.UserInfo'),
    dryRun: bool,
    options: dyn,
  }),
  'kubernetes.NamespaceSpec': fields({ finalizers: strings }),
  'kubernetes.NamespaceCondition': fields({
    status: string,
    type: string,
    lastTransitionTime: timestamp,
    message: string,
    reason: string,
  }),
  'kubernetes.NamespaceStatus': fields({
    conditions: listType(objectType('kubernetes.NamespaceCondition')),
    phase: string,
  }),
  'kubernetes.NamespaceMetadata': fields({
    name: string,
    generateName: string,
    namespace: string,
    labels: mapType(string, string),
    annotations: mapType(string, string),
    UID: string,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    deletionTimestamp: timestamp,
    generation: int,
    resourceVersion: string,
    finalizers: strings,
  }),
  'kubernetes.Namespace': fields({
    metadata: objectType('kubernetes.NamespaceMetadata'),
    spec: objectType('kubernetes.NamespaceSpec'),
    status: objectType('kubernetes.NamespaceStatus'),
  }),
})

function fields(types: Readonly<Record<string, CelType>>): ObjectType {
  const entries = Object.entries(types).map(([name, type]) => [name, { type }] as const)
  return Object.freeze({ fields: Object.fromEntries(entries) })
}
